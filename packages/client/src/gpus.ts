/**
 * From "how many, kept how close" to the shape of a request. Pure: the same function shapes what the console, the
 * command line and programs ask for.
 */
import type { DeviceLine, GangAsk, NodeAsk, Selector, Topology } from "./api.gen.ts";

/**
 * What is kept together: on one `node`; in one NVLink domain (`nvlink`, which is also one node); on nodes that share
 * the label `rack` or `zone`, or any other label that you name.
 */
export type Together = "node" | "nvlink" | "rack" | "zone" | (string & {});

/** How GPUs are asked for. */
export interface GpusOptions {
  /** What is kept together; absent: the parts may be anywhere, two on one node as well. */
  readonly together?: Together | undefined;
  /** How many of them one node has at most; default 8. */
  readonly perNode?: number | undefined;
  /**
   * Narrows which GPUs will do, such as `{ model: "NVIDIA-H100-80GB-HBM3" }`: the whole name, as the machines report it
   * and `gpuModel` of `pools.list` shows it.
   */
  readonly selector?: Omit<Selector, "unitIds"> | undefined;
}

/** How whole nodes are asked for. */
export interface NodesOptions {
  /** The label whose value all nodes share; absent: wherever they are. */
  readonly together?: Exclude<Together, "node" | "nvlink"> | undefined;
  /** How they are to be set up. */
  readonly node: NodeAsk;
}

/** The part of a request that says what is booked: spread it into one. What it means in words does not spread. */
export interface Shape {
  /** One line: what each member gets. */
  devices: DeviceLine[];
  /** How many members, and what label their nodes share; absent: one. */
  gang?: GangAsk;
  /** `nvlink-all`: each member's GPUs are in one NVLink domain. */
  topology?: Topology;
}

/** A shape of whole nodes. */
export interface NodeShape extends Shape {
  /** Whole nodes are leased. */
  binding: "node";
  /** How they are to be set up. */
  node: NodeAsk;
}

/** What was chosen, for people: `2 × 8 GPUs on nodes of one rack`. Not enumerable, so it is in no request. */
export interface InWords {
  /** The shape in words. */
  readonly words: string;
}

const PER_NODE = 8;
/** The API's largest gang and largest line. */
const GANG_MAX = 64;
const LINE_MAX = 64;

/**
 * The shape of so many GPUs: members of equal size, each on one node, as few as there can be of at most `perNode`. Equal
 * comes first: 20 are four members of 5, and not 8, 8 and 4. For parts of different sizes book each by itself.
 *
 * @throws RangeError for what cannot be, saying what can
 * @throws TypeError for an option that it does not have
 * @example
 * const shape = gpus(16, { together: "rack" });
 * shape.words; // 2 × 8 GPUs on nodes of one rack
 * await berth.capacity.preview({ tenantId, poolId, ...shape, duration: "7d" });
 */
export function gpus(count: number, options: GpusOptions = {}): Shape & InWords {
  known("gpus", options, ["together", "perNode", "selector"]);
  const { together, perNode = PER_NODE, selector } = options;
  wanted("gpus", count);
  if (!Number.isInteger(perNode) || perNode < 1 || perNode > LINE_MAX)
    throw new RangeError(`perNode must be a whole number from 1 to ${LINE_MAX}, not ${perNode}`);
  const isOneNode = together === "node" || together === "nvlink";
  if (isOneNode && count > perNode)
    throw new RangeError(
      `${count} GPUs are more than the ${perNode} of one node: keep them together by "rack", or say with perNode how many a node has`,
    );
  const members = isOneNode ? 1 : fewest(count, perNode);
  const each = count / members;
  const line: DeviceLine = { class: "gpu", count: each, ...(selector ? { selector } : {}) };
  const shape: Shape = { devices: [line] };
  if (together === "nvlink") shape.topology = "nvlink-all";
  if (members > 1) shape.gang = gang(members, together);
  return inWords(shape, spoken({ members, each, model: selector?.model ?? "" }, together));
}

/**
 * The shape of so many whole nodes.
 *
 * @throws RangeError for what cannot be
 * @throws TypeError for an option that it does not have
 * @example
 * const shape = nodes(4, { together: "rack", node: { profileId: "ubuntu-24.04" } });
 */
export function nodes(count: number, options: NodesOptions): NodeShape & InWords {
  known("nodes", options, ["together", "node"]);
  const { together, node } = options;
  wanted("nodes", count);
  if (count > GANG_MAX)
    throw new RangeError(`${count} nodes are more than the ${GANG_MAX} of one booking`);
  const isGang = together !== undefined && count > 1;
  const shape: NodeShape = {
    binding: "node",
    node,
    devices: [{ class: "node", count: isGang ? 1 : count }],
    ...(isGang ? { gang: gang(count, together) } : {}),
  };
  const where = isGang ? ` of one ${together}` : "";
  return inWords(shape, `${count} whole ${count === 1 ? "node" : "nodes"}${where}`);
}

/** A misspelt option would book something else than was meant. */
function known(what: string, options: object, names: readonly string[]): void {
  if (typeof (options as unknown) !== "object" || options === null)
    throw new TypeError(`${what} needs its options as an object: { ${names.join(", ")} }`);
  const [unknown] = Object.keys(options).filter((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new TypeError(
      `${what} has no option ${JSON.stringify(unknown)}: it takes ${names.join(", ")}`,
    );
}

function wanted(what: string, count: number): void {
  if (!Number.isSafeInteger(count) || count < 1)
    throw new RangeError(`${what} needs a whole number of at least 1, not ${count}`);
}

/** Members are of equal size, so their number divides the count. */
function fewest(count: number, perNode: number): number {
  const least = Math.ceil(count / perNode);
  for (let members = least; members <= GANG_MAX; members += 1)
    if (count % members === 0) return members;
  throw new RangeError(
    `${count} GPUs cannot be cut into at most ${GANG_MAX} equal parts of at most ${perNode}: ${near(count, perNode)}`,
  );
}

function near(count: number, perNode: number): string {
  const most = GANG_MAX * perNode;
  if (count > most) return `one booking takes at most ${most}`;
  return `ask for ${perNode * Math.floor(count / perNode)} or ${perNode * Math.ceil(count / perNode)}`;
}

function gang(size: number, together: string | undefined): GangAsk {
  return together === undefined ? { size } : { size, topologyKey: together };
}

function spoken(
  {
    members,
    each,
    model,
  }: { readonly members: number; readonly each: number; readonly model: string },
  together: string | undefined,
): string {
  const what = `${each} ${model && `${model} `}${each === 1 ? "GPU" : "GPUs"}`;
  if (members > 1)
    return `${members} × ${what} on ${together === undefined ? "any nodes" : `nodes of one ${together}`}`;
  return `${what} on one node${together === "nvlink" ? ", all in one NVLink domain" : ""}`;
}

function inWords<S extends object>(shape: S, words: string): S & InWords {
  return Object.defineProperty(shape, "words", { value: words }) as S & InWords;
}
