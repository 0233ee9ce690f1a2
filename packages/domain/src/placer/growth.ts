/**
 * The score of a node for a request: how much its fragmentation grows, by the pool's own demand mix
 * (`score.ts`). What is free changes during the window as other bookings come and go, and so does what the
 * rest is good for: the growth is the mean over the window.
 */
import { DAY_MS, SCALARS } from "../model.ts";
import type { SeenNode } from "../state/node-entry.ts";
import type { PoolView } from "../state/pool-view.ts";
import type { UnitAsk } from "../state/pool-demand.ts";
import type { Shape, ShapeUnit } from "../state/shape.ts";
import type { Window } from "./fit.ts";
import { fitOf, fitOfShape } from "./plan.ts";
import type { Plan, ShapeFit } from "./plan.ts";
import { lostParts, packScore, spreadScore } from "./score.ts";
import type { Tie } from "./shortlist.ts";
import { isWithheld } from "./withheld.ts";

/** Changes during a window that are looked at on one node; with more, what is not free throughout is taken. */
const EDGES_MAX = 64;
const NO_LIMIT = SCALARS.map(() => Number.POSITIVE_INFINITY);

/** What the mix means on nodes of one shape. */
export interface MixTable {
  /** By kind of the mix: units that one takes; Infinity when the units looked at do not serve it. */
  readonly wants: readonly number[];
  /** By free units: the growth, scalars aside. */
  readonly growth: readonly number[];
  /** No node of the shape has less, at any time. */
  readonly least: number;
}

/** No node scores higher; Infinity when that is not known. */
export function bestScore(state: PoolView, plan: Plan): number {
  if (plan.whole || plan.pinned) return Number.POSITIVE_INFINITY;
  let best = 0;
  for (const shape of state.shapes.all()) {
    const fit = fitOfShape(plan, shape);
    if (fit.cause !== null) continue;
    const { scoredTotal: total } = fit;
    const score =
      plan.policy === "spread"
        ? spreadScore(total - plan.scoredWanted, total)
        : packScore(tableOf(plan, shape, fit).least);
    best = Math.max(best, score);
  }
  return best;
}

/** @param free units of the score's kind that are free for the whole window, enough for the request */
export function scoreOn(plan: Plan, entry: SeenNode, free: number): number {
  const fit = fitOf(plan, entry);
  if (plan.policy === "spread") return spreadScore(free - plan.scoredWanted, fit.scoredTotal);
  const table = tableOf(plan, entry.shape, fit);
  if (!plan.mixHasScalars) {
    return packScore(meanGrowth({ plan, entry, fit }, free, (f) => table.growth[f] as number));
  }
  const left = amountsLeft(plan, entry);
  const known = knownFor(plan, entry.shape, left);
  return packScore(
    meanGrowth(
      { plan, entry, fit },
      free,
      (f) => (known[f] ??= growth(plan, table.wants, { free: f, left })),
    ),
  );
}

/** The score for one more member, on what `free` units are, scalars and the rest of the time aside. */
export function memberScore(
  plan: Plan,
  entry: SeenNode,
  room: { readonly free: number; readonly total: number },
): number {
  const { free, total } = room;
  if (plan.policy === "spread") return spreadScore(free - plan.scoredWanted, total);
  return packScore(tableOf(plan, entry.shape, fitOf(plan, entry)).growth[free] ?? 0);
}

interface At {
  readonly plan: Plan;
  readonly entry: SeenNode;
  readonly fit: ShapeFit;
}

const edges = { list: [] as number[], max: EDGES_MAX };

/** The mean over the window of the growth at each instant. */
function meanGrowth(at: At, free: number, growthOf: (free: number) => number): number {
  if (free === at.fit.scoredTotal) return growthOf(free);
  const counted = countedOn(at);
  const mean = at.entry.calendar.mean(at.plan.request, (booked) =>
    growthOf(bitsIn(counted & ~booked)),
  );
  return mean ?? meanByEdges(at, free, growthOf);
}

/** The units that the score counts while they are not booked, a bit each, of the first 32. */
function countedOn({ plan: { request }, entry, fit }: At): number {
  const { places, scored } = fit;
  let counted = 0;
  for (let i = 0; i < places.length; i += 1) {
    const place = places[i] as number;
    if (scored[i] === 0 || entry.usable[place] === 0) continue;
    if (entry.terms !== null && isWithheld({ entry, place }, request, request)) continue;
    counted |= 1 << place;
  }
  return counted;
}

function bitsIn(set: number): number {
  let left = set - ((set >>> 1) & 0x55555555);
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The same from the bookings themselves, for a node with too many units or changes to have them in short. */
function meanByEdges(at: At, free: number, growthOf: (free: number) => number): number {
  const { start, end } = at.plan.request;
  const { list } = edges;
  list.length = 0;
  let most = free + edgesOf(at);
  if (list.length === 0 || list.length > EDGES_MAX) return growthOf(free);
  list.sort((a, b) => a - b);
  let sum = 0;
  let since = start;
  for (const edge of list) {
    const time = Math.floor(edge / 2);
    if (time > since) {
      sum += (time - since) * growthOf(most);
      since = time;
    }
    most += edge % 2 === 0 ? -1 : 1;
  }
  if (end > since) sum += (end - since) * growthOf(most);
  return sum / (end - start);
}

/** Fills `edges` with those of the units that are booked for a part of the window; answers how many these are. */
function edgesOf({ plan, entry, fit }: At): number {
  const { request } = plan;
  const { places, scored } = fit;
  const free = entry.calendar.freeOf(places, request);
  // The answer of `freeOf` does not outlive the next question.
  const booked = places.filter((_, i) => scored[i] === 1 && free[i] === 0);
  let units = 0;
  for (const place of booked) {
    if (entry.usable[place] === 0) continue;
    if (entry.terms !== null && isWithheld({ entry, place }, request, request)) continue;
    units += 1;
    entry.calendar.edgesIn(place, request, edges);
    if (edges.list.length > EDGES_MAX) break;
  }
  return units;
}

/** By free units, what was found on nodes of the shape with as much left of each scalar: mostly many are alike. */
function knownFor(plan: Plan, shape: Shape, left: readonly number[]): number[] {
  const key = plan.pinned ? null : `${shape.number}|${left.join()}`;
  const known = key === null ? [] : (plan.growths.get(key) ?? []);
  if (key !== null && known.length === 0) plan.growths.set(key, known);
  return known;
}

/** What the window leaves of the node's scalars, at the worst instant. */
function amountsLeft({ request }: Plan, entry: SeenNode): number[] {
  return SCALARS.map((scalar) => {
    const used = entry.scalarUse.get(scalar)?.all.peak(request.start, request.end) ?? 0;
    return entry.node.scalars[scalar] - used;
  });
}

function tableOf(plan: Plan, shape: Shape, fit: ShapeFit): MixTable {
  const known = plan.pinned ? undefined : plan.tables[shape.number];
  if (known) return known;
  const units = fit.places.filter((_, i) => fit.scored[i] === 1).map((at) => shape.units[at]);
  const wants = plan.mix.map((ask) => {
    const able = units.filter((unit) => serves(unit as ShapeUnit, ask)).length;
    return able < ask.size ? Number.POSITIVE_INFINITY : ask.size;
  });
  const table = {
    wants,
    growth: Array.from({ length: fit.scoredTotal + 1 }, (_, f) =>
      growth(plan, wants, { free: f, left: NO_LIMIT }),
    ),
    least: leastGrowth(plan, wants),
  };
  if (!plan.pinned) plan.tables[shape.number] = table;
  return table;
}

function serves(unit: ShapeUnit, { model, memoryGiB }: UnitAsk): boolean {
  return (model === null || unit.model === model) && (unit.memoryGiB ?? 0) >= memoryGiB;
}

/** How much more is lost when the request has taken its units and amounts. */
function growth(
  plan: Plan,
  wants: readonly number[],
  { free, left }: { readonly free: number; readonly left: readonly number[] },
): number {
  const { mix, scoredWanted } = plan;
  const lost = (parts: number, amounts: readonly number[]): number => {
    const times = wants.map((want) => Math.floor(parts / want));
    return lostParts(mix, { parts, times, amounts });
  };
  const after = left.map((amount, k) => amount - (plan.amounts[k] as number));
  return lost(free - scoredWanted, after) - lost(free, left);
}

/**
 * What fits into the request so and so often has to make do with so many fewer once the request is there. So
 * of each kind at least those are lost; what the request takes is not lost any more.
 */
function leastGrowth({ mix, amounts, scoredWanted }: Plan, wants: readonly number[]): number {
  let least = -scoredWanted;
  mix.forEach((ask, i) => {
    let times = Math.floor(scoredWanted / (wants[i] as number));
    ask.amounts.forEach((amount, k) => {
      if (amount > 0) times = Math.min(times, Math.floor((amounts[k] as number) / amount));
    });
    least += ask.weight * times * ask.size;
  });
  return least;
}

/** Idle time on a side counts up to here: what is open longer is as good as open. */
export const SLACK_MAX: number = 30 * DAY_MS;

/** What tells nodes of one score apart. */
export function tieOn(plan: Plan, entry: SeenNode, window: Window): Tie {
  const { calendar, usable } = entry;
  const { places, scored } = fitOf(plan, entry);
  const open = calendar.freeOf(places, window);
  const free = places.filter((place, i) => scored[i] === 1 && open[i] === 1 && usable[place] === 1);
  const slacks = free.map((place) => calendar.slackAround(place, window, SLACK_MAX));
  slacks.sort((a, b) => a - b);
  const slack = slacks.slice(0, plan.scoredWanted).reduce((sum, one) => sum + one, 0);
  const ofClass = [...entry.shape.units.keys()].filter(
    (place) => entry.shape.units[place]?.class === plan.scoredClass,
  );
  const all = calendar.freeOf(ofClass, window);
  let left = 0;
  for (let i = 0; i < ofClass.length; i += 1) left += all[i] as number;
  return { slack, free: left };
}
