/**
 * How often other room is looked for. A node may fail under thousands of bookings, and each release may be
 * what one of them waits for: so a turn looks only so long and leaves the rest to the next ones, and who
 * found no room is tried again only when a node that might take it has changed.
 */
import type { ReservationId } from "../ids.ts";
import type { Member, Reservation, UnitClass } from "../model.ts";
import { isFaulty } from "../rollup/buckets.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";
import { rehouse } from "./rehouse.ts";

/** Nodes looked at in one turn, once for each member: about a tenth of a second. */
const LOOKS_A_TURN = 50_000;
/** The same for an operator's call about one node, whose answer says where everything went. */
export const LOOKS_A_CALL = 200_000;

/** What a turn did to find other room for bookings whose hardware failed. */
export interface Healing {
  /** How often one was tried. */
  tries: number;
  /** How many of these searched the pool: for the others no node that has changed could be of use. */
  searches: number;
  looks: number;
  looksMax: number;
}

const healings = new WeakMap<Turn, Healing>();

export function healingOf(turn: Turn): Healing {
  const known = healings.get(turn);
  if (known) return known;
  const healing = { tries: 0, searches: 0, looks: 0, looksMax: LOOKS_A_TURN };
  healings.set(turn, healing);
  return healing;
}

/** For each state: at which revision a reservation found no room. Only ever saves time. */
const failures = new WeakMap<PoolState, Map<ReservationId, number>>();

/** Where it can go; "untried" when this turn has looked long enough, and else there is no room. */
export function tryElsewhere(
  turn: Turn,
  reservation: Reservation,
): { readonly members: readonly Member[] } | { readonly untried: boolean } {
  const { state } = turn;
  healingOf(turn).tries += 1;
  const failed = failuresOf(state);
  const failedAt = failed.get(reservation.id);
  if (failedAt !== undefined) {
    const touched = [...state.touchedSince(failedAt)];
    if (!touched.some((id) => mayTakeMember(state.entry(id), reservation))) return NO_ROOM;
  }
  if (!mayLook(turn, reservation)) return { untried: true };
  const found = rehouse(state, reservation);
  // Quota is no node's: what it forbids, it may allow without any node having changed.
  if (!found.ok && found.refusal.code === "NO_CAPACITY") failed.set(reservation.id, state.revision);
  else failed.delete(reservation.id);
  return found.ok ? { members: found.value } : NO_ROOM;
}

const NO_ROOM = { untried: false } as const;

/** Whether the turn still has the time for a search; the first one is always granted. */
export function hasTimeFor(turn: Turn, { members }: Reservation): boolean {
  const { looks, looksMax } = healingOf(turn);
  return looks === 0 || looks + turn.state.nodeCount * members.length <= looksMax;
}

/** Counts a search, if there is time for it. */
export function mayLook(turn: Turn, reservation: Reservation): boolean {
  if (!hasTimeFor(turn, reservation)) return false;
  const healing = healingOf(turn);
  healing.looks += turn.state.nodeCount * reservation.members.length;
  healing.searches += 1;
  return true;
}

/** Reservations that ended are forgotten once they are the most of what is remembered. */
function failuresOf(state: PoolState): Map<ReservationId, number> {
  let failed = failures.get(state);
  if (!failed) failures.set(state, (failed = new Map<ReservationId, number>()));
  if (failed.size > 2 * state.degradedCount + 64)
    for (const id of failed.keys()) if (!state.reservation(id)?.degraded) failed.delete(id);
  return failed;
}

/** Whether the node has as many sound and free units as one member asks for, whatever else it asks. */
function mayTakeMember(entry: NodeEntry | undefined, reservation: Reservation): boolean {
  if (!entry || entry.node.state !== "ready") return false;
  const { node, calendar } = entry;
  const { start, end, members, devices } = reservation;
  if (node.maintenance.some((window) => window.start < end && window.end > start)) return false;
  const own = new Set(
    members.flatMap((member) => (member.nodeId === node.id ? member.unitIds : [])),
  );
  const free = calendar.freeOf(
    node.units.map((_, place) => place),
    { start, end },
  );
  const counts = new Map<UnitClass, number>();
  let taken = 0;
  node.units.forEach((unit, place) => {
    const usable = (free[place] === 1 || own.has(unit.id)) && !isFaulty(node, unit);
    if (usable) counts.set(unit.class, (counts.get(unit.class) ?? 0) + 1);
    else taken += 1;
  });
  if (reservation.binding === "node") return taken === 0;
  return devices.every(
    (line) => line.class !== "node" && (counts.get(line.class) ?? 0) >= line.count,
  );
}
