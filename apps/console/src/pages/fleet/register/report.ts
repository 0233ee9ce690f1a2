/**
 * A report of machines as a person gives it, and what registering it would do. Pure. Only what would hide a mistake is
 * looked at here; the rest the server says, with each field's path.
 */
import type { Node, NodeInput } from "@berth/client";
import { gpusText } from "../../../format/gpus.ts";

/** As many as one call takes. */
export const NODES_MAX = 500;

/** One thing that is wrong, and where: `nodes[3].gpus[0].uuid`; null: in all of it. */
export interface Fault {
  readonly where: string | null;
  readonly what: string;
}

export type Report =
  | { readonly ok: true; readonly nodes: readonly NodeInput[] }
  | { readonly ok: false; readonly faults: readonly Fault[] };

const FAULTS_MAX = 20;

/** `{"nodes": [...]}`, as `berth import` reads it, or the list alone. */
export function readReport(text: string): Report {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return wrong([{ where: null, what: `This is no JSON: ${(error as Error).message}` }]);
  }
  const nodes: unknown = isRecord(parsed) ? parsed["nodes"] : parsed;
  if (!Array.isArray(nodes))
    return wrong([{ where: null, what: 'It is neither {"nodes": [...]} nor a list of nodes.' }]);
  if (nodes.length === 0) return wrong([{ where: "nodes", what: "There is no node in it." }]);
  if (nodes.length > NODES_MAX)
    return wrong([
      {
        where: "nodes",
        what: `There are ${nodes.length}; at most ${NODES_MAX} go at once. Split it, or use berth import.`,
      },
    ]);
  const faults = faultsOf(nodes);
  // What is left to say of a node the server says, by its own schema.
  return faults.length > 0 ? wrong(faults) : { ok: true, nodes: nodes as NodeInput[] };
}

function wrong(faults: readonly Fault[]): Report {
  return { ok: false, faults: faults.slice(0, FAULTS_MAX) };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function faultsOf(nodes: readonly unknown[]): Fault[] {
  const names = new Map<string, number>();
  return nodes.flatMap((node, index): Fault[] => {
    const where = `nodes[${index}]`;
    if (!isRecord(node)) return [{ where, what: "This is no node." }];
    const { name, gpus } = node;
    if (typeof name !== "string" || name === "")
      return [{ where: `${where}.name`, what: "A node has a name." }];
    const before = names.get(name);
    names.set(name, index);
    const twice =
      before === undefined
        ? []
        : [{ where: `${where}.name`, what: `${name} is nodes[${before}] already.` }];
    return [...twice, ...gpuFaults(gpus, where)];
  });
}

function gpuFaults(gpus: unknown, node: string): Fault[] {
  if (gpus === undefined) return [];
  if (!Array.isArray(gpus)) return [{ where: `${node}.gpus`, what: "This is no list of GPUs." }];
  const seen = new Map<unknown, number>();
  return gpus.flatMap((gpu: unknown, index): Fault[] => {
    const where = `${node}.gpus[${index}]`;
    if (!isRecord(gpu)) return [{ where, what: "This is no GPU." }];
    const lacking = ["uuid", "index", "model"].filter((field) => gpu[field] === undefined);
    if (lacking.length > 0) return [{ where, what: `It lacks ${lacking.join(", ")}.` }];
    const before = seen.get(gpu["uuid"]);
    seen.set(gpu["uuid"], index);
    return before === undefined
      ? []
      : [{ where: `${where}.uuid`, what: `It is the same as of gpus[${before}].` }];
  });
}

/** What a report does to the machines that are there. */
export interface ReportPlan {
  readonly nodes: readonly NodeInput[];
  readonly fresh: readonly string[];
  /** Ids of machines that are there already. */
  readonly known: readonly string[];
  /** Of known nodes, GPUs that are reported no longer: what is booked on them is degraded. */
  readonly lost: readonly { readonly name: string; readonly gpus: number }[];
  /** GPUs that another machine of the site has, which the report does not name: the server takes no GPU twice. */
  readonly elsewhere: readonly {
    readonly name: string;
    readonly on: string;
    readonly gpus: number;
  }[];
  /** Machines of the site that it does not name: they stay as they are. */
  readonly untouched: number;
}

/** What has to be known of a machine that is there. */
export type Known = Pick<Node, "id" | "name" | "units">;

/** Why the plan cannot be carried out; null: nothing is known that forbids it. */
export function planRefusal({ elsewhere: [first, ...more] }: ReportPlan): string | null {
  if (first === undefined) return null;
  const others = more.length === 0 ? "" : `, and ${more.length} more such`;
  return `${gpusText(first.gpus)} of ${first.name} ${first.gpus === 1 ? "is" : "are"} on ${first.on} already${others}.`;
}

/** By pair of machines. One that the report names itself may give a GPU up to another. */
function elsewhereOf(nodes: readonly NodeInput[], here: readonly Known[]): ReportPlan["elsewhere"] {
  const reported = new Set(nodes.map(({ name }) => name));
  const holders = new Map(
    here
      .filter(({ name }) => !reported.has(name))
      .flatMap(({ name, units }) =>
        units.flatMap(({ gpuUuid }) => (gpuUuid === null ? [] : [[gpuUuid, name] as const])),
      ),
  );
  return nodes.flatMap(({ gpus = [], name }) => {
    const held = gpus.flatMap(({ uuid }) => holders.get(uuid) ?? []);
    return [...Map.groupBy(held, (on) => on)].map(([on, all]) => ({ name, on, gpus: all.length }));
  });
}

export function planOf(nodes: readonly NodeInput[], here: readonly Known[]): ReportPlan {
  const byName = new Map(here.map((node) => [node.name, node]));
  const known = nodes.filter(({ name }) => byName.has(name));
  const lost = known.flatMap(({ gpus = [], name }) => {
    const reported = new Set(gpus.map(({ uuid }) => uuid));
    const before = new Set(byName.get(name)?.units.flatMap(({ gpuUuid }) => gpuUuid ?? []));
    const gone = [...before].filter((uuid) => !reported.has(uuid)).length;
    return gone === 0 ? [] : [{ name, gpus: gone }];
  });
  return {
    nodes,
    fresh: nodes.filter(({ name }) => !byName.has(name)).map(({ name }) => name),
    known: known.flatMap(({ name }) => byName.get(name)?.id ?? []),
    lost,
    elsewhere: elsewhereOf(nodes, here),
    untouched: here.length - known.length,
  };
}
