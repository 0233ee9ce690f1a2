/**
 * slurm.conf: nodes as they are configured. NodeName, NodeAddr and Nodes are lists of names; a line
 * `NodeName=DEFAULT` sets what the lines after it leave out (SchedMD/slurm `doc/man/man5/slurm.conf.5`,
 * `src/common/read_config.c`). Defaults: RealMemory 1, CPUs = boards × sockets × cores × threads, each 1.
 */
import { ImportError, type Source, badRecord, inFile } from "../document.ts";
import type { NodeState } from "../draft.ts";
import { type ConfLine, confLines } from "./conf-lines.ts";
import { parseGres } from "./gres.ts";
import { HOSTS_MAX, hostlistReader } from "./hostlist.ts";
import type { SlurmNode } from "./node.ts";
import { nodeStateOf } from "./state.ts";

export interface ConfFindings {
  readonly nodes: readonly SlurmNode[];
  readonly notes: readonly string[];
}

/** The lines of one file by what they describe. */
interface Lines {
  readonly nodes: readonly ConfLine[];
  readonly partitions: readonly ConfLine[];
  readonly sets: readonly ConfLine[];
  readonly down: readonly ConfLine[];
  readonly includes: readonly ConfLine[];
}

/** Files that include one another are one configuration. @throws ImportError */
export function parseSlurmConf(sources: readonly Source[]): ConfFindings {
  const all = sources.map((source) => ({ source, lines: sorted(confLines(source.text)) }));
  const expand = hostlistReader();
  const nodes: MutableNode[] = [];
  for (const { source, lines } of all)
    inFile(source, () => {
      for (const node of readNodes(source, lines.nodes, expand)) nodes.push(node);
      if (nodes.length > HOSTS_MAX) throw new ImportError(`has more than ${HOSTS_MAX} nodes`);
    });
  const byName = new Map(nodes.map((node) => [node.ref.name, node]));
  for (const { source, lines } of all)
    inFile(source, () => {
      const sets = new Map(lines.sets.map(({ values }) => [values.get("nodeset") ?? "", values]));
      for (const line of lines.partitions) addPartition(line, { nodes, byName, sets, expand });
      for (const { values } of lines.down)
        for (const name of expand(values.get("downnodes") ?? "")) {
          const node = byName.get(name);
          if (node) node.state = configuredState([values.get("state") ?? "DOWN"]);
        }
    });
  const includes = all.flatMap(({ lines }) => lines.includes.map(({ text }) => text.slice(0, 80)));
  const notes =
    includes.length > 0 && includes.length >= sources.length
      ? [`not followed, give the files as well if they have nodes: ${includes.join(", ")}`]
      : [];
  return { nodes, notes };
}

function sorted(lines: readonly ConfLine[]): Lines {
  const beginning = (key: string) => lines.filter(({ values }) => [...values.keys()][0] === key);
  return {
    nodes: beginning("nodename"),
    partitions: beginning("partitionname"),
    sets: beginning("nodeset"),
    down: beginning("downnodes"),
    includes: lines.filter(({ text }) => /^include\s/i.test(text)),
  };
}

interface MutableNode extends SlurmNode {
  readonly partitions: string[];
  state?: NodeState | undefined;
}

function readNodes(source: Source, lines: readonly ConfLine[], expand: Expand): MutableNode[] {
  const nodes: MutableNode[] = [];
  let defaults: ReadonlyMap<string, string> = new Map();
  for (const line of lines) {
    const values = new Map([...defaults, ...line.values]);
    if (values.get("nodename")?.toUpperCase() === "DEFAULT") {
      defaults = values;
      continue;
    }
    const place = { file: source.file, unit: "line", number: line.number } as const;
    for (const node of nodesOfLine(place, values, expand)) nodes.push(node);
  }
  return nodes;
}

function nodesOfLine(
  place: Omit<SlurmNode["ref"], "name">,
  values: ReadonlyMap<string, string>,
  expand: Expand,
): MutableNode[] {
  const list = values.get("nodename") ?? "";
  const ref = { ...place, name: list.slice(0, 64) };
  const names = atLine(ref, "NodeName", () => expand(list));
  const address = values.get("nodeaddr");
  const addresses = address === undefined ? [] : atLine(ref, "NodeAddr", () => expand(address));
  if (addresses.length > 0 && addresses.length !== names.length)
    throw badRecord(
      ref,
      "NodeAddr",
      `names ${addresses.length} addresses of ${names.length} nodes`,
    );
  const gres = parseGres(values.get("gres") ?? "");
  if (!gres) throw badRecord(ref, "Gres", `"${values.get("gres")?.slice(0, 64)}" is not read`);
  const common = {
    cpus: cpusOf(values, ref),
    memoryMiB: wholeOf(values, ["realmemory"], ref) ?? 1,
    gres,
    features: listOf(values.get("features") ?? values.get("feature")),
    state: configuredState((values.get("state") ?? "UNKNOWN").split("+")),
  };
  return names.map((name, at) => ({
    ref: { ...place, name },
    ...common,
    address: addresses[at] ?? name,
    partitions: [],
  }));
}

function atLine<T>(ref: SlurmNode["ref"], field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    throw badRecord(ref, field, error.message);
  }
}

/** A configuration says who may come, not who is there: only what takes a node out of service counts. */
function configuredState(words: readonly string[]): NodeState | undefined {
  const state = nodeStateOf(words.filter((word) => word.toUpperCase() !== "UNKNOWN"));
  return state === null || state === "ready" ? undefined : state;
}

function cpusOf(values: ReadonlyMap<string, string>, ref: SlurmNode["ref"]): number {
  const said = wholeOf(values, ["cpus", "procs"], ref);
  if (said !== undefined) return said;
  const boards = wholeOf(values, ["boards"], ref) ?? 1;
  const perBoard = wholeOf(values, ["socketsperboard"], ref) ?? 1;
  const sockets = wholeOf(values, ["sockets"], ref) ?? boards * perBoard;
  const cores = wholeOf(values, ["corespersocket"], ref) ?? 1;
  return sockets * cores * (wholeOf(values, ["threadspercore"], ref) ?? 1);
}

function wholeOf(
  values: ReadonlyMap<string, string>,
  keys: readonly string[],
  ref: SlurmNode["ref"],
): number | undefined {
  const key = keys.find((each) => values.has(each));
  const text = key === undefined ? undefined : values.get(key);
  if (key === undefined || text === undefined) return undefined;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw badRecord(ref, key, `must be a whole number, not "${text.slice(0, 32)}"`);
}

const listOf = (text = "") => text.split(",").filter((each) => each !== "" && each !== "(null)");

type Expand = (text: string) => string[];

interface Nodes {
  readonly expand: Expand;
  readonly nodes: readonly MutableNode[];
  readonly byName: ReadonlyMap<string, MutableNode>;
  readonly sets: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

function addPartition({ values }: ConfLine, { nodes, byName, sets, expand }: Nodes): void {
  const partition = values.get("partitionname") ?? "";
  const list = values.get("nodes") ?? "";
  if (partition.toUpperCase() === "DEFAULT" || list === "") return;
  const named = list.toUpperCase() === "ALL" ? nodes.map(({ ref }) => ref.name) : expand(list);
  for (const name of named) {
    const set = sets.get(name);
    const members = set ? membersOf(set, nodes, expand) : [name];
    for (const member of members) byName.get(member)?.partitions.push(partition);
  }
}

function membersOf(
  set: ReadonlyMap<string, string>,
  nodes: readonly MutableNode[],
  expand: Expand,
): string[] {
  const feature = set.get("feature");
  const byFeature = nodes.filter(
    ({ features }) => feature !== undefined && features.includes(feature),
  );
  return [...expand(set.get("nodes") ?? ""), ...byFeature.map(({ ref }) => ref.name)];
}
