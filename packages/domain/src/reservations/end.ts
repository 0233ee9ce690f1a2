/** The one way in which a live reservation ends, and what its end sets free. */
import { follow } from "../lifecycle.ts";
import type { Reservation } from "../model.ts";
import type { Turn } from "../turn.ts";
import { type ReservationEvent, change } from "./events.ts";

export type EndTrigger = "complete" | "lapse" | "release" | "terminate";

const EVENTS: Readonly<Record<EndTrigger, ReservationEvent>> = {
  complete: "reservation.completed",
  lapse: "reservation.expired",
  release: "reservation.released",
  terminate: "reservation.terminated",
};

/** Ends it: it holds nothing from `at` on. */
export function endReservation(
  turn: Turn,
  before: Reservation,
  how: { readonly trigger: EndTrigger; readonly at: number; readonly reason: string },
): Reservation {
  const after: Reservation = {
    ...before,
    state: follow(before.state, how.trigger),
    endingSoonAt: null,
    endedAt: how.at,
    endReason: how.reason,
    version: before.version + 1,
    updatedAt: how.at,
  };
  change(turn, EVENTS[how.trigger], { before, after });
  dropUnreported(turn, after);
  return after;
}

/** A device that its node no longer reports was kept while it was booked; with its last booking it goes. */
function dropUnreported(turn: Turn, ended: Reservation): void {
  for (const { nodeId, unitIds } of ended.members) {
    const before = turn.state.node(nodeId);
    if (!before?.units.some((unit) => unit.removed)) continue;
    const held = new Set<string>(unitIds);
    const units = before.units.filter(
      ({ id, removed }) => !removed || !held.has(id) || turn.state.bookingsOf(id).length > 0,
    );
    if (units.length === before.units.length) continue;
    const after = { ...before, units, version: before.version + 1 };
    turn.apply({ kind: "node", before, after });
  }
}
