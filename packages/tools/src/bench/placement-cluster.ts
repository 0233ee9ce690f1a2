/**
 * Nodes with cards of 1,000 parts, on which the bench puts the trace's tasks where the domain's own score,
 * shortlist and demand mix say. Only what a task and a card are is decided here: a pool has either whole GPUs
 * or slots, the trace mixes both.
 */
import { DemandMix, lostParts, packScore, CHOICE_ENOUGH, Shortlist } from "@berth/domain";
import type { Ask, Weighed } from "@berth/domain";
import type { Pod, TraceNode } from "./placement-trace.ts";

export const CARD = 1_000;
/** Tasks after which the mix is read anew: between, scores of nodes that did not change are kept. */
const MIX_EVERY = 250;

/** Where a task went; a share says on which card, whole cards take the first free ones. */
export interface Spot {
  readonly node: number;
  readonly card: number;
}

export interface PodAsk extends Ask {
  readonly pod: Pod;
}

export function podAsk(pod: Pod): PodAsk {
  const { cpu, num, milli, spec } = pod;
  return { key: `${cpu}|${num}|${milli}|${spec}`, size: num * milli, amounts: [cpu], pod };
}

/** What is known of every node for tasks of one kind. */
interface Known {
  readonly version: Int32Array;
  /** Below 0: does not fit. */
  readonly score: Float64Array;
  readonly card: Int8Array;
}

/** Expected before anything has come. */
export const USUAL: readonly PodAsk[] = [1, 2, 4, 8].map((num) =>
  podAsk({ num, milli: CARD, cpu: 0, mem: 0, spec: "" }),
);

/** Parts that the mix is expected to leave over on a node that any task may run on. */
export function lostOn(
  wishes: readonly Weighed<PodAsk>[],
  left: { readonly cards: readonly number[]; readonly cpu: number },
): number {
  const times = wishes.map(({ pod }) =>
    Math.floor(left.cards.reduce((sum, card) => sum + sharesIn(pod, card), 0) / pod.num),
  );
  const parts = left.cards.reduce((sum, card) => sum + card, 0);
  return lostParts(wishes, { parts, times, amounts: [left.cpu] });
}

export class Cluster {
  readonly #nodes: readonly TraceNode[];
  readonly #cards: number[][];
  readonly #cpu: number[];
  readonly #mem: number[];
  readonly #free: number[];
  /** Grows when the node changes. */
  readonly #version: Int32Array;
  readonly #mix = new DemandMix<PodAsk>(USUAL);
  readonly #known = new Map<string, Known>();
  readonly #models = new Map<string, ReadonlySet<string> | null>();
  #wishes: readonly Weighed<PodAsk>[] = [];
  #tasks = 0;
  #mixVersion = 0;
  /** By node: for each wish the cards that it could have, or the shares; and what is lost as it is. */
  readonly #counts: Float64Array[];
  readonly #lost: Float64Array;
  readonly #counted: Float64Array;
  #times = new Float64Array(0);

  /** @param nodes in the order that decides between equals */
  constructor(nodes: readonly TraceNode[]) {
    this.#nodes = nodes;
    this.#cards = nodes.map(({ gpus }) => Array.from({ length: gpus }, () => CARD));
    this.#cpu = nodes.map(({ cpu }) => cpu);
    this.#mem = nodes.map(({ mem }) => mem);
    this.#free = nodes.map(({ gpus }) => gpus * CARD);
    this.#version = new Int32Array(nodes.length);
    this.#counts = nodes.map(() => new Float64Array(0));
    this.#lost = new Float64Array(nodes.length);
    this.#counted = new Float64Array(nodes.length).fill(-1);
  }

  /** Null when no node has room. What was placed is what the mix is learnt from, as a pool learns it. */
  place(pod: Pod): Spot | null {
    if (this.#tasks % MIX_EVERY === 0) this.#readMix();
    this.#tasks += 1;
    const known = this.#knownOf(pod);
    const best = new Shortlist<number>(1, CHOICE_ENOUGH);
    for (let node = 0; node < this.#nodes.length; node += 1) {
      if (known.version[node] !== this.#version[node]) this.#look(known, node, pod);
      const score = known.score[node] as number;
      if (score < 0) continue;
      best.offer(node, score);
      if (best.isSettled) break;
    }
    const [first] = best.ranked(1, (node) => ({ slack: 0, free: this.#free[node] as number }));
    if (!first) return null;
    const spot = { node: first.item, card: known.card[first.item] as number };
    this.#take(spot, pod);
    return spot;
  }

  #readMix(): void {
    this.#wishes = this.#mix.weighed();
    this.#times = new Float64Array(this.#wishes.length);
    this.#mixVersion += 1;
    this.#known.clear();
  }

  #knownOf({ cpu, mem, num, milli, spec }: Pod): Known {
    const key = `${cpu}|${mem}|${num}|${milli}|${spec}`;
    let known = this.#known.get(key);
    if (!known) {
      const { length } = this.#nodes;
      const version = new Int32Array(length).fill(-1);
      known = { version, score: new Float64Array(length), card: new Int8Array(length) };
      this.#known.set(key, known);
    }
    return known;
  }

  /** The node's score for the task; of its cards the best for a share, and of equals the fullest. */
  #look(known: Known, node: number, pod: Pod): void {
    known.version[node] = this.#version[node] as number;
    known.score[node] = -1;
    const cards = this.#cards[node] as number[];
    if (!this.#hasRoom(node, pod)) return;
    this.#count(node);
    if (!isShare(pod)) {
      known.score[node] = this.#scoreAfter(node, pod, CARD);
      return;
    }
    let fullest = 0;
    for (let card = 0; card < cards.length; card += 1) {
      const left = cards[card] as number;
      if (left < pod.milli || cards.indexOf(left) < card) continue;
      const score = this.#scoreAfter(node, pod, left);
      const best = known.score[node] as number;
      if (score < best || (score === best && left >= fullest)) continue;
      known.score[node] = score;
      known.card[node] = card;
      fullest = left;
    }
  }

  #hasRoom(node: number, pod: Pod): boolean {
    if ((this.#cpu[node] as number) < pod.cpu || (this.#mem[node] as number) < pod.mem)
      return false;
    if (pod.num > 0 && !this.#mayRun(pod.spec, node)) return false;
    let cards = 0;
    for (const left of this.#cards[node] as number[]) if (left >= pod.milli) cards += 1;
    return cards >= pod.num;
  }

  #mayRun(spec: string, node: number): boolean {
    let models = this.#models.get(spec);
    if (models === undefined) {
      models = spec === "" ? null : new Set(spec.split("|"));
      this.#models.set(spec, models);
    }
    return models === null || models.has((this.#nodes[node] as TraceNode).model);
  }

  /** What the mix finds on the node as it is. */
  #count(node: number): void {
    const stamp = this.#mixVersion * 1e6 + (this.#version[node] as number);
    if (this.#counted[node] === stamp) return;
    this.#counted[node] = stamp;
    const cards = this.#cards[node] as number[];
    const counts = new Float64Array(this.#wishes.length);
    for (let i = 0; i < counts.length; i += 1) {
      const { pod } = this.#wishes[i] as PodAsk;
      if (!this.#mayRun(pod.spec, node)) continue;
      for (const left of cards) counts[i]! += sharesIn(pod, left);
    }
    this.#counts[node] = counts;
    this.#wishes.forEach(({ pod }, i) => {
      this.#times[i] = Math.floor((counts[i] as number) / pod.num);
    });
    const amounts = [this.#cpu[node] as number];
    const parts = this.#free[node] as number;
    this.#lost[node] = lostParts(this.#wishes, { parts, times: this.#times, amounts });
  }

  /** @param left on each card that the task would go to */
  #scoreAfter(node: number, pod: Pod, left: number): number {
    const counts = this.#counts[node] as Float64Array;
    const wishes = this.#wishes;
    const times = this.#times;
    for (let i = 0; i < wishes.length; i += 1) {
      const wish = (wishes[i] as PodAsk).pod;
      let count = counts[i] as number;
      if (count > 0) count += pod.num * (sharesIn(wish, left - pod.milli) - sharesIn(wish, left));
      times[i] = wish.num > 1 ? Math.floor(count / wish.num) : count;
    }
    const amounts = [(this.#cpu[node] as number) - pod.cpu];
    const parts = (this.#free[node] as number) - pod.num * pod.milli;
    const lost = lostParts(wishes, { parts, times, amounts });
    return packScore((lost - (this.#lost[node] as number)) / CARD);
  }

  #take({ node, card }: Spot, pod: Pod): void {
    const cards = this.#cards[node] as number[];
    this.#version[node]! += 1;
    this.#cpu[node]! -= pod.cpu;
    this.#mem[node]! -= pod.mem;
    this.#free[node]! -= pod.num * pod.milli;
    if (pod.num === 0) return;
    if (isShare(pod)) cards[card]! -= pod.milli;
    else for (const at of wholeCards(cards, pod.num)) cards[at] = 0;
    this.#mix.add(podAsk(pod), 1);
  }
}

export function isShare({ num, milli }: Pod): boolean {
  return num === 1 && milli < CARD;
}

/** The first `num` cards that are wholly free. */
export function wholeCards(cards: readonly number[], num: number): number[] {
  return [...cards.keys()].filter((at) => cards[at] === CARD).slice(0, num);
}

/** How many of the task's shares, or whole cards, a card with so much left has. */
function sharesIn({ milli }: Pod, left: number): number {
  if (milli === CARD) return left === CARD ? 1 : 0;
  return Math.floor(left / milli);
}
