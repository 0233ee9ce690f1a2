/**
 * Which of a node's free units are taken first. So that whole NVLink domains stay whole: units outside any
 * domain, then of the domain with the fewest free; among those the ones whose free gap around the window
 * is shortest, so that long gaps stay long.
 *
 * Parts of GPUs: those of the GPU that is most in use, so that whole GPUs stay free; of the one least in use
 * where the pool spreads. MIG instances the smaller profile first, and within a GPU from its last memory
 * slice down: the starts of large instances stay free longest. Slots each of another GPU as long as there
 * is one: who asks for two wants two GPUs' worth of work done.
 */
import type { UnitId } from "../ids.ts";
import { profileRank } from "../mig/table.ts";
import type { Unit } from "../model.ts";
import type { SeenNode } from "../state/node-entry.ts";
import type { Window } from "./fit.ts";
import { SLACK_MAX } from "./growth.ts";
import type { UnitList } from "./matching.ts";
import type { Policy } from "./score.ts";

interface About {
  readonly entry: SeenNode;
  readonly window: Window;
  readonly policy: Policy;
}

interface Key {
  /** Position in the list. */
  readonly i: number;
  readonly unit: Unit;
  readonly place: number;
  readonly room: number;
  readonly domain: number;
  readonly slack: number;
  /** Of a part: how little its GPU is wanted. */
  readonly gpu: number;
  /** Of a slot: how many of its GPU go before it. */
  turn: number;
}

/** Positions in the list, best first. */
export function preference(free: UnitList, about: About): number[] {
  const { entry, window } = about;
  const inDomain = new Map<number, number>();
  for (let i = 0; i < free.size; i += 1) {
    const domain = free.domains[i] as number;
    if (domain >= 0) inDomain.set(domain, (inDomain.get(domain) ?? 0) + 1);
  }
  const gpus = entry.node.gpus.length > 0 ? gpuOrder(about) : null;
  const keys = Array.from({ length: free.size }, (_, i): Key => {
    const domain = free.domains[i] as number;
    const place = free.places[i] as number;
    const unit = entry.node.units[place] as Unit;
    const room = inDomain.get(domain) ?? 0;
    const slack = entry.calendar.slackAround(place, window, SLACK_MAX);
    const gpu = (unit.parentUnitId !== null && gpus?.get(unit.parentUnitId)) || 0;
    return { i, unit, place, room, domain, slack, gpu, turn: 0 };
  });
  if (gpus) takeTurns(keys);
  keys.sort((a, b) => (gpus && byPart(a, b)) || byWhole(a, b));
  return keys.map(({ i }) => i);
}

function byWhole(a: Key, b: Key): number {
  return a.room - b.room || a.domain - b.domain || a.slack - b.slack || a.place - b.place;
}

function byPart(a: Key, b: Key): number {
  const [x, y] = [a.unit, b.unit];
  // Each line takes one class, so these never stand in each other's way.
  if (x.class !== y.class) return x.class < y.class ? -1 : 1;
  if (x.profile !== null && y.profile !== null)
    return (
      profileRank(x.profile) - profileRank(y.profile) ||
      a.gpu - b.gpu ||
      (y.placement ?? 0) - (x.placement ?? 0)
    );
  return a.turn - b.turn || a.gpu - b.gpu;
}

/** Numbers the slots of each GPU, in the order in which they would be taken. */
function takeTurns(keys: readonly Key[]): void {
  const taken = new Map<UnitId, number>();
  for (const key of keys.toSorted(byWhole)) {
    const { class: kind, parentUnitId } = key.unit;
    if (kind !== "gpu.slot" || parentUnitId === null) continue;
    key.turn = taken.get(parentUnitId) ?? 0;
    taken.set(parentUnitId, key.turn + 1);
  }
}

/** The node's GPUs, numbered from the one to take from first: by parts that are booked in the window. */
function gpuOrder({ entry, window, policy }: About): Map<UnitId, number> {
  const { gpus, units } = entry.node;
  const booked = new Map<UnitId, number>();
  const places = units.flatMap(({ parentUnitId }, place) => (parentUnitId === null ? [] : place));
  const free = entry.calendar.freeOf(places, window);
  places.forEach((place, i) => {
    const id = (units[place] as Unit).parentUnitId;
    if (id !== null && free[i] === 0) booked.set(id, (booked.get(id) ?? 0) + 1);
  });
  const sign = policy === "spread" ? 1 : -1;
  const order = gpus.toSorted(
    (a, b) => sign * ((booked.get(a.id) ?? 0) - (booked.get(b.id) ?? 0)) || a.index - b.index,
  );
  return new Map(order.map(({ id }, at) => [id, at]));
}
