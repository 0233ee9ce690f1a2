/**
 * gres.conf: which device files the GPUs of a node have, and how many links join them. `File`, `Links` (the
 * n-th number is the number of links to device n, -1 the device itself), `Type` and `AutoDetect` as in
 * SchedMD/slurm `doc/man/man5/gres.conf.5`.
 */
import { ImportError, type RecordRef, type Source, badRecord, inFile } from "../document.ts";
import { confLines } from "./conf-lines.ts";
import { parseCount } from "./gres.ts";
import { hostlistReader } from "./hostlist.ts";

interface DeviceLine {
  /** Null: every node. */
  readonly nodes: ReadonlySet<string> | null;
  readonly type: string | null;
  readonly count: number;
  /** N of /dev/nvidiaN; empty when the line names no such file. */
  readonly numbers: readonly number[];
  readonly links: readonly number[];
}

export class GresConf {
  readonly #lines: DeviceLine[] = [];
  #detects = false;
  readonly #expand = hostlistReader();

  /** @throws ImportError */
  constructor(sources: readonly Source[]) {
    for (const source of sources) inFile(source, () => this.#read(source));
  }

  #read({ file, text }: Source): void {
    for (const { number, values } of confLines(text)) {
      const detect = values.get("autodetect");
      if (detect !== undefined && detect.toLowerCase() !== "off") this.#detects = true;
      if (values.get("name")?.toLowerCase() !== "gpu") continue;
      try {
        this.#lines.push(deviceLine(values, this.#expand));
      } catch (error) {
        if (!(error instanceof ImportError)) throw error;
        throw new ImportError(`${file}, line ${number}: ${error.message}`);
      }
    }
  }

  /**
   * The device numbers of a node's GPUs of one type; null when the file does not name them all.
   * @throws ImportError when it names another number of them, which Slurm would drain the node for
   */
  numbersOf(ref: RecordRef & { readonly name: string }, gpus: GpuCount): readonly number[] | null {
    const lines = this.#linesOf(ref.name).filter(
      ({ type }) => type === null || gpus.type === null || sameType(type, gpus.type),
    );
    if (lines.length === 0) return null;
    const count = lines.reduce((sum, line) => sum + line.count, 0);
    if (count !== gpus.count && !this.#detects) {
      const what = `gpu${gpus.type === null ? "" : `:${gpus.type}`}`;
      throw badRecord(ref, "Gres", `has ${gpus.count} of ${what}, and gres.conf ${count}`);
    }
    const numbers = lines.flatMap((line) => line.numbers);
    return numbers.length === gpus.count ? numbers.toSorted((a, b) => a - b) : null;
  }

  /** Pairs of device numbers with at least one link between them. */
  linksOf(node: string): readonly (readonly [number, number])[] {
    return this.#linesOf(node).flatMap(({ numbers, links }) => {
      const [device] = numbers;
      if (numbers.length !== 1 || device === undefined) return [];
      return links.flatMap((count, other): [number, number][] =>
        count > 0 ? [[device, other]] : [],
      );
    });
  }

  #linesOf(node: string): DeviceLine[] {
    return this.#lines.filter(({ nodes }) => nodes === null || nodes.has(node));
  }
}

interface GpuCount {
  readonly type: string | null;
  readonly count: number;
}

const sameType = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

function deviceLine(
  values: ReadonlyMap<string, string>,
  expand: (text: string) => string[],
): DeviceLine {
  const nodes = values.get("nodename");
  const file = values.get("file");
  const files = file === undefined ? [] : expand(file);
  const numbers = files.map((path) => Number(/^\/dev\/nvidia(\d{1,3})$/.exec(path)?.[1] ?? NaN));
  const said = values.get("count");
  const count = said === undefined ? Math.max(1, files.length) : parseCount(said);
  if (count === null) throw new ImportError(`Count: must be a number, not "${said?.slice(0, 32)}"`);
  return {
    nodes: nodes === undefined ? null : new Set(expand(nodes)),
    type: values.get("type") ?? null,
    count,
    numbers: numbers.some((number) => Number.isNaN(number)) ? [] : numbers,
    links: linksOf(values.get("links")),
  };
}

function linksOf(text: string | undefined): number[] {
  if (text === undefined || text === "") return [];
  const links = text.split(",").map((each) => each.trim());
  if (links.length <= 64 && links.every((each) => /^-?\d{1,4}$/.test(each)))
    return links.map(Number);
  throw new ImportError(`Links: must be numbers of links, not "${text.slice(0, 32)}"`);
}
