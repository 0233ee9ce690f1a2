/**
 * What failing hardware does to bookings. One that has not begun goes elsewhere in its pool, whole or not
 * at all; where there is no room it stays, flagged, and is tried again whenever something is freed. One
 * that has begun is never moved, only flagged. A flag goes when nothing is wrong with any of its units
 * any more, however many things were.
 */
import type { NodeId, ReservationId } from "../ids.ts";
import type { Degraded, Member, Pin, Reservation } from "../model.ts";
import type { Turn } from "../turn.ts";
import { reprieveVictims } from "./early-leave.ts";
import { settleNodesOf } from "./end.ts";
import { tellMore } from "./events.ts";
import { type Harm, harmOf } from "./harm.ts";
import { tryElsewhere } from "./tries.ts";

/**
 * To be called after every change of a node, or of what holds its units back. Whatever goes elsewhere may
 * make room for others that lack it, so that when this returns nobody can be helped any more.
 */
export function mindNode(turn: Turn, nodeId: NodeId): void {
  let healed = count(byStart(turn.state.reservationsOn(nodeId)), (one) => mind(turn, one.id));
  while (healed > 0) healed = healDegraded(turn);
}

/**
 * Tries those that lack sound units and have not begun, in the order in which they begin.
 * @returns how many are sound now
 */
export function healDegraded(turn: Turn): number {
  return count(turn.state.degraded(), ({ id }) => mind(turn, id));
}

/** Looks for room for those that a turn before this one had no time for. */
export function healUntried(turn: Turn): void {
  if (turn.state.untriedCount === 0) return;
  for (const { id, degraded } of turn.state.degraded()) if (degraded?.untried) mind(turn, id);
}

/** One that is told of an earlier end may have nothing to do any more with what would have failed it later. */
export function mindCut(turn: Turn, { id, degraded }: Reservation): void {
  if (degraded) mind(turn, id);
}

/** A booking begins on what it has, and its tenant is told when that is not all sound. */
export function tellIfDegraded(turn: Turn, begun: Reservation): void {
  if (begun.degraded) tellDegraded(turn, begun, begun.degraded);
}

function byStart(reservations: readonly Reservation[]): Reservation[] {
  return [...reservations].sort((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1));
}

/** @returns whether it is sound now and was not before */
function mind(turn: Turn, id: ReservationId): boolean {
  const reservation = turn.state.reservation(id);
  if (!reservation) return false;
  const harm = harmOf(turn.state, reservation);
  if (!harm) return reservation.degraded !== null && heal(turn, reservation, reservation.members);
  // Under notice it is about to end: what it leaves is somebody else's already.
  if (reservation.state !== "scheduled") return flag(turn, reservation, { harm, untried: false });
  const found = tryElsewhere(turn, reservation);
  if ("members" in found) return heal(turn, reservation, found.members);
  return flag(turn, reservation, { harm, ...found });
}

/** Moves it where all is sound; also to where it is, when that is sound again. */
export function heal(turn: Turn, before: Reservation, members: readonly Member[]): true {
  const { moved, from } = movesOf(before.members, members);
  const after: Reservation = {
    ...before,
    members: moved.length > 0 ? members : before.members,
    pins: moved.length > 0 ? pinsKept(before, members) : before.pins,
    degraded: null,
    version: before.version + 1,
    updatedAt: turn.now,
  };
  turn.apply({ kind: "reservation", before, after });
  tellMore(turn, { type: "reservation.healed", after, more: { from, to: moved } });
  if (moved.length === 0) return true;
  reprieveVictims(turn, before.id);
  settleNodesOf(turn, before);
  return true;
}

/** Told, and a new version, only when it is another fault or concerns other units. */
function flag(
  turn: Turn,
  before: Reservation,
  { harm, untried }: { readonly harm: Harm; readonly untried: boolean },
): false {
  const was = before.degraded;
  const same = was !== null && sameHarm(was, harm);
  if (same && (was.untried ?? false) === untried) return false;
  const since = was?.since ?? turn.now;
  const degraded: Degraded = { since, ...harm, ...(untried && { untried }) };
  const at = same ? before : { version: before.version + 1, updatedAt: turn.now };
  const after = { ...before, degraded, version: at.version, updatedAt: at.updatedAt };
  turn.apply({ kind: "reservation", before, after });
  if (same) return false;
  tellDegraded(turn, after, { since, ...harm });
  return false;
}

function tellDegraded(turn: Turn, after: Reservation, { since, cause, unitIds }: Degraded): void {
  const degraded = { since, cause, unitIds };
  tellMore(turn, { type: "reservation.degraded", after, more: { degraded } });
}

function sameHarm(a: Harm, b: Harm): boolean {
  return a.cause === b.cause && a.unitIds.join() === b.unitIds.join();
}

type Place = Pick<Member, "index" | "nodeId" | "unitIds">;

/** The members that are elsewhere now, and where they were. */
function movesOf(
  before: readonly Member[],
  after: readonly Member[],
): { readonly from: Place[]; readonly moved: Place[] } {
  const was = new Map(before.map((member) => [member.index, placeOf(member)]));
  const moved = after
    .map(placeOf)
    .filter((now) => JSON.stringify(now) !== JSON.stringify(was.get(now.index)));
  return { from: moved.map(({ index }) => was.get(index) as Place), moved };
}

function placeOf({ index, nodeId, unitIds }: Member): Place {
  return { index, nodeId, unitIds };
}

/** What early leavers freed for it stays pinned as far as it still means to use it. */
function pinsKept({ pins }: Reservation, members: readonly Member[]): Pin[] {
  const wanted = new Set(members.flatMap(({ unitIds }) => unitIds));
  const nodes = new Set(members.map(({ nodeId }) => nodeId));
  return pins
    .filter(({ nodeId }) => nodes.has(nodeId))
    .map((pin) => ({ ...pin, unitIds: pin.unitIds.filter((id) => wanted.has(id)) }));
}

function count<T>(items: readonly T[], test: (item: T) => boolean): number {
  return items.filter(test).length;
}
