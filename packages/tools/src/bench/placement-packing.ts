/**
 * Part A: the openb cluster is filled to 130 % of what it has. What is scored and what shows that nothing is
 * overbooked is a replay of the decisions alone. With slots a share takes whole slots of its card, here and
 * in the reference, and what counts is still what was asked for.
 */
import type { Figure } from "./figure.ts";
import { quantile } from "./figure.ts";
import { CARD, Cluster, isShare, wholeCards } from "./placement-cluster.ts";
import type { Spot } from "./placement-cluster.ts";
import { mean } from "./placement-trace.ts";
import type { Pod, Trace, TraceNode } from "./placement-trace.ts";

const LISTS = ["default", "cpu050", "gpushare40", "gpuspec10", "multigpu20"] as const;
const SEEDS = [42, 43, 44, 45, 46];
const REFERENCES = ["FGD", "BestFit", "FirstFit"] as const;
/** Points by which the reference may be better. */
const ALLOWED = 0.15;
const DEFAULT_MUST = 95;
const DEFAULT_AIM = 95.7;

/** @param slots of each card; 0: a share takes exactly what it asks for */
export function packingFigures(trace: Trace, quick: boolean, slots = 0): Figure[] {
  const part = slots === 0 ? "packing" : `packing-${slots}-slots`;
  const nodes = trace.inflate.loadNodes(trace.file("openb_node_list_gpu_node.csv"));
  const times: number[] = [];
  const figures = LISTS.flatMap((list) => {
    const pods = trace.inflate.loadPods(trace.file("pods", `openb_pod_list_${list}.csv`));
    const runs = (quick ? SEEDS.slice(0, 1) : SEEDS).map((seed) => {
      const file = trace.file("sequences", list, `seed${seed}.txt`);
      const sequence = trace.inflate.readSequence(file, pods);
      const booked = pods.map((pod) => inSlots(pod, slots));
      const arrivals = { pods, booked, sequence };
      const ours = pack(shuffled(nodes, trace.inflate.rng(seed)), arrivals, times);
      const theirs = REFERENCES.map(
        (policy) => trace.inflate.run(nodes, pods, sequence, policy, { seed, slots }).at130,
      );
      return [ours, ...theirs];
    });
    const [ours = 0, fgd = 0, bestFit = 0, firstFit = 0] = [0, 1, 2, 3].map((at) =>
      mean(runs.map((run) => run[at] as number)),
    );
    const points = { ours, FGD: fgd, BestFit: bestFit, FirstFit: firstFit };
    return listFigures({ part, list, ofCards: slots === 0 }, points, quick);
  });
  const speed = { unit: "ms", direction: "lower" } as const;
  return [
    ...figures,
    { ...speed, id: `${part}/decision.mean`, value: mean(times), must: 0.5 },
    { ...speed, id: `${part}/decision.p99`, value: quantile(times, 0.99), must: 5 },
  ];
}

/** What a pool of so many slots a card books for the task. */
export function inSlots(pod: Pod, slots: number): Pod {
  if (slots === 0 || !isShare(pod)) return pod;
  const taken = Math.ceil((pod.milli * slots) / CARD);
  return { ...pod, milli: Math.ceil((taken * CARD) / slots) };
}

function listFigures(
  {
    part,
    list,
    ofCards,
  }: { readonly part: string; readonly list: string; readonly ofCards: boolean },
  points: Readonly<Record<"ours" | (typeof REFERENCES)[number], number>>,
  quick: boolean,
): Figure[] {
  const figure = { unit: "%", direction: "higher" } as const;
  // What the default list has to reach is stated for shares as they are asked for.
  const byDefault = list === "default" && ofCards;
  const least = Math.max(points.FGD - ALLOWED, points.FirstFit, byDefault ? DEFAULT_MUST : 0);
  return REFERENCES.map((id, at): Figure => {
    const yardstick = { id, value: points[id], unit: "%" };
    const ratio = points.ours / points[id];
    const one = { ...figure, id: `${part}/${list} to ${id}`, value: points.ours, yardstick, ratio };
    // The limits are stated for the mean of all sequences.
    if (at > 0 || quick) return one;
    return { ...one, must: least, ...(byDefault ? { aim: DEFAULT_AIM } : {}) };
  });
}

/** A drawn order of nodes, as that of a pool's ids is. */
function shuffled(nodes: readonly TraceNode[], draw: (n: number) => number): TraceNode[] {
  const list = [...nodes];
  for (let at = list.length - 1; at > 0; at -= 1) {
    const other = draw(at + 1);
    [list[at], list[other]] = [list[other] as TraceNode, list[at] as TraceNode];
  }
  return list;
}

interface Arrivals {
  /** As they ask, which is what is counted. */
  readonly pods: readonly Pod[];
  /** What they take. */
  readonly booked: readonly Pod[];
  /** Places in `pods`, as they come. */
  readonly sequence: readonly number[];
}

/** Percent of the cluster that is allocated at 130 % of demand. */
function pack(nodes: readonly TraceNode[], arrivals: Arrivals, times: number[]): number {
  const cluster = new Cluster(nodes);
  const spots = arrivals.sequence.map((at) => {
    const before = performance.now();
    const spot = cluster.place(arrivals.booked[at] as Pod);
    times.push(performance.now() - before);
    return spot;
  });
  return replay(nodes, arrivals, spots);
}

/** Does as the decisions say on cards of its own. Throws when anything is taken twice. */
function replay(
  nodes: readonly TraceNode[],
  { pods, booked, sequence }: Arrivals,
  spots: readonly (Spot | null)[],
): number {
  const left = nodes.map(({ cpu, mem, gpus }) => {
    return { cpu, mem, cards: Array.from({ length: gpus }, () => CARD) };
  });
  const capacity = nodes.reduce((sum, { gpus }) => sum + gpus * CARD, 0);
  let [arrived, allocated] = [0, 0];
  const atEnd: number[] = [];
  sequence.forEach((at, n) => {
    const pod = pods[at] as Pod;
    const spot = spots[n];
    arrived += pod.num * pod.milli;
    if (spot) {
      take(left[spot.node] as (typeof left)[number], booked[at] as Pod, spot);
      if (pod.spec && !pod.spec.split("|").includes(nodes[spot.node]?.model ?? ""))
        throw new Error(`task ${n} is on a model that it cannot use`);
      allocated += pod.num * pod.milli;
    }
    if (Math.round((100 * arrived) / capacity) === 130) atEnd.push(allocated);
  });
  return (100 * mean(atEnd)) / capacity;
}

function take(
  node: { cpu: number; mem: number; readonly cards: number[] },
  pod: Pod,
  { card }: Spot,
): void {
  node.cpu -= pod.cpu;
  node.mem -= pod.mem;
  const cards = isShare(pod) ? [card] : wholeCards(node.cards, pod.num);
  for (const at of cards) node.cards[at]! -= pod.milli;
  const over = node.cpu < 0 || node.mem < 0 || cards.length < pod.num;
  if (over || node.cards.some((one) => one < 0)) throw new Error("a node is overbooked");
}
