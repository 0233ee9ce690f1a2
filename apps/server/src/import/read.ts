/**
 * Reads inventory files in whichever of the known formats they are. Files that belong together are read together:
 * nodes with their ResourceSlices, a slurm.conf with its gres.conf, nvidia-smi with its topology; and what
 * nvidia-smi says of the GPUs of a machine wins over what a scheduler counts of them.
 */
import { readFile, stat } from "node:fs/promises";
import {
  type Findings,
  type Found,
  type ImportDocument,
  ImportError,
  type Source,
  checkNodes,
  inFile,
} from "./document.ts";
import { type NodeDraft, fitLabels } from "./draft.ts";
import { type Format, formatOf } from "./formats.ts";
import { parseJson } from "./json.ts";
import { parseKubernetes } from "./kubernetes/kubernetes.ts";
import { parseNvidia } from "./nvidia/nvidia.ts";
import { parseOpenb } from "./openb.ts";
import { parseSlurm } from "./slurm/slurm.ts";

export interface ReadOptions {
  /** The machine that a single file of nvidia-smi is of. */
  readonly node?: string | undefined;
  /** The format of every file; absent: told from what is in each. */
  readonly format?: Format | undefined;
}

/** All files together: the state of 5,000 Kubernetes nodes is about a third of it. */
const BYTES_MAX = 256 * 1_048_576;

/** @throws ImportError names what is wrong, and in which file, record and field */
export async function readInventory(
  files: string | readonly string[],
  options: ReadOptions = {},
): Promise<ImportDocument> {
  return readSources(await readTexts([files].flat()), options);
}

/** @throws ImportError */
export function readSources(sources: readonly Source[], options: ReadOptions = {}): ImportDocument {
  const byFormat = Map.groupBy(
    sources,
    (source) => options.format ?? inFile(source, () => formatOf(source)),
  );
  const of = (format: Format) => byFormat.get(format) ?? [];
  const smi = parseNvidia({
    smi: of("nvidia-smi"),
    topologies: of("nvidia-topo"),
    node: options.node,
  });
  const machines = [
    ...of("berth").map((source) => inFile(source, () => parseJson(source))),
    ...of("openb").map((source) => inFile(source, () => parseOpenb(source))),
    parseKubernetes(of("kubernetes")),
    parseSlurm({
      scontrol: of("scontrol"),
      json: of("slurm-json"),
      conf: of("slurm.conf"),
      gresConf: of("gres.conf"),
    }),
  ];
  const found = joined(
    machines.flatMap(({ nodes }) => nodes),
    smi.nodes,
  );
  if (found.length === 0 && !byFormat.has("berth")) throw new ImportError("the files name no node");
  return {
    site: siteOf(machines),
    nodes: checkNodes(found),
    refs: found.map(({ ref }) => ref),
    notes: [...machines, ...found].flatMap(({ notes }) => notes ?? []),
  };
}

function siteOf(findings: readonly Findings[]): ImportDocument["site"] {
  return findings.find(({ site }) => site)?.site ?? null;
}

/** A machine that a scheduler tells of keeps what is said there, and has its GPUs from nvidia-smi. */
function joined(machines: readonly Found[], smi: readonly Found[]): readonly Found[] {
  const byName = new Map(smi.map((found) => [(found.node as NodeDraft).name, found]));
  if (byName.size < smi.length) return [...machines, ...smi];
  const whole = machines.map((machine): Found => {
    const node = machine.node as NodeDraft | null;
    const seen = typeof node?.name === "string" ? byName.get(node.name) : undefined;
    if (!node || !seen) return machine;
    byName.delete(node.name);
    const { gpus, labels } = seen.node as NodeDraft;
    const all = { ...labels, ...node.labels };
    return {
      ref: machine.ref,
      node: { ...node, gpus, labels: fitLabels(Object.entries(all)).labels },
    };
  });
  return [...whole, ...byName.values()];
}

async function readTexts(files: readonly string[]): Promise<Source[]> {
  const sources: Source[] = [];
  let bytes = 0;
  for (const file of files) {
    try {
      bytes += (await stat(file)).size;
      if (bytes > BYTES_MAX) break;
      sources.push({ file, text: (await readFile(file, "utf8")).replace(/^\uFEFF/, "") });
    } catch (error) {
      throw new ImportError(`cannot read ${file}: ${error instanceof Error ? error.message : "?"}`);
    }
  }
  if (bytes > BYTES_MAX)
    throw new ImportError(
      `the files are larger than ${BYTES_MAX / 1_048_576} MiB: import them in parts`,
    );
  return sources;
}
