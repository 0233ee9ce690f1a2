/** Part B on cards that are shared: as in `placement-cluster.ts`, and with time. */
import { DemandMix, packScore, CHOICE_ENOUGH, Shortlist } from "@berth/domain";
import { CARD, isShare, lostOn, podAsk, USUAL } from "./placement-cluster.ts";
import type { PodAsk } from "./placement-cluster.ts";
import type { CalendarRequest } from "./placement-trace.ts";

interface Taken {
  readonly start: number;
  readonly end: number;
  readonly amount: number;
}

interface SharedNode {
  readonly cards: Taken[][];
  cpu: Taken[];
}

export interface SharedPool {
  readonly nodes: number;
  readonly gpus: number;
  /** Milli, of each node. */
  readonly cpu: number;
}

/** Free for a whole window. */
interface Left {
  readonly cards: readonly number[];
  readonly cpu: number;
}

/** Percent of the GPU-time asked for that is booked. Throws when a card or a node's CPUs are overbooked. */
export function bookShared(requests: readonly CalendarRequest[], pool: SharedPool): number {
  const nodes = Array.from({ length: pool.nodes }, (): SharedNode => {
    return { cards: Array.from({ length: pool.gpus }, () => []), cpu: [] };
  });
  const mix = new DemandMix<PodAsk>(USUAL);
  let live: { readonly end: number; readonly ask: PodAsk }[] = [];
  let [asked, given] = [0, 0];
  for (const request of requests) {
    const ask = askOf(request);
    for (const one of live) if (one.end <= request.submit) mix.add(one.ask, -1);
    live = live.filter(({ end }) => end > request.submit);
    for (const node of nodes) forget(node, request.submit);
    asked += ask.size * request.dur;
    const start = earliest(nodes, pool, request);
    if (start === null) continue;
    put(nodes, { request, start, mix, pool });
    live.push({ end: start + request.dur, ask });
    mix.add(ask, 1);
    given += ask.size * request.dur;
  }
  return (100 * given) / asked;
}

function askOf({ gpus, milli, cpu }: CalendarRequest): PodAsk {
  return podAsk({ num: gpus, milli, cpu, mem: 0, spec: "" });
}

function forget(node: SharedNode, time: number): void {
  node.cards.forEach((list, card) => (node.cards[card] = list.filter(({ end }) => end > time)));
  node.cpu = node.cpu.filter(({ end }) => end > time);
}

/** The first instant at which some node has room: where it is ready, or where something ends. */
function earliest(
  nodes: readonly SharedNode[],
  pool: SharedPool,
  request: CalendarRequest,
): number | null {
  const ready = request.submit + request.lead;
  const ends = nodes.flatMap(({ cards, cpu }) => [...cards.flat(), ...cpu].map(({ end }) => end));
  const later = ends.filter((end) => end > ready && end <= ready + request.window);
  const starts = [ready, ...new Set(later)].sort((a, b) => a - b);
  return (
    starts.find((at) =>
      nodes.some((node) => fits(leftOn(node, pool, { start: at, end: at + request.dur }), request)),
    ) ?? null
  );
}

function fits({ cards, cpu }: Left, request: CalendarRequest): boolean {
  return cpu >= request.cpu && able(cards, request).length >= request.gpus;
}

function able(cards: readonly number[], { milli }: CalendarRequest): number[] {
  return [...cards.keys()].filter((card) => (cards[card] as number) >= milli);
}

function leftOn(
  { cards, cpu }: SharedNode,
  pool: SharedPool,
  { start, end }: Pick<Taken, "start" | "end">,
): Left {
  return {
    cards: cards.map((list) => CARD - peak(list, start, end)),
    cpu: pool.cpu - peak(cpu, start, end),
  };
}

function peak(list: readonly Taken[], start: number, end: number): number {
  const within = list.filter((one) => one.start < end && one.end > start);
  const at = (time: number): number =>
    within.reduce((sum, one) => (one.start <= time && one.end > time ? sum + one.amount : sum), 0);
  return Math.max(at(start), ...within.map((one) => (one.start > start ? at(one.start) : 0)));
}

function put(
  nodes: readonly SharedNode[],
  about: {
    readonly request: CalendarRequest;
    readonly start: number;
    readonly mix: DemandMix<PodAsk>;
    readonly pool: SharedPool;
  },
): void {
  const { request, start, mix, pool } = about;
  const { pod } = askOf(request);
  const wishes = mix.weighed();
  const window = { start, end: start + request.dur };
  const best = new Shortlist<{
    readonly node: SharedNode;
    readonly cards: number[];
    free: number;
  }>(1, CHOICE_ENOUGH);
  for (const node of nodes) {
    const left = leftOn(node, pool, window);
    if (!fits(left, request)) continue;
    const lost = lostOn(wishes, left);
    const open = able(left.cards, request);
    const choices = isShare(pod) ? open.map((card) => [card]) : [open.slice(0, request.gpus)];
    for (const cards of choices) {
      const after = {
        cards: left.cards.map((free, card) => free - (cards.includes(card) ? request.milli : 0)),
        cpu: left.cpu - request.cpu,
      };
      const free = left.cards[cards[0] as number] as number;
      best.offer({ node, cards, free }, packScore((lostOn(wishes, after) - lost) / CARD));
    }
  }
  const slack = 0;
  const [first] = best.ranked(1, ({ free }) => ({ slack, free }));
  if (!first) throw new Error("the earliest start does not fit");
  const { node, cards } = first.item;
  for (const card of cards) node.cards[card]?.push({ ...window, amount: request.milli });
  node.cpu.push({ ...window, amount: request.cpu });
  const over = leftOn(node, pool, window);
  if (over.cpu < 0 || over.cards.some((one) => one < 0)) throw new Error("a node is overbooked");
}
