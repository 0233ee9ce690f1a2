/** What a row's state allows, whoever asks: the second half of `can`. */
import type { Reservation, UnitReservation } from "@berth/client";
import type { Method, Row } from "./can.ts";

/** States in which a booking is over. */
const OVER: ReadonlySet<string> = new Set([
  "completed",
  "released",
  "expired",
  "preempted",
  "terminated",
]);

/** Whether a booking is over: nothing changes it any more. */
export function isOver({ state }: Pick<Reservation, "state">): boolean {
  return OVER.has(state);
}

/** Why the state forbids it; null when it does not. */
export function stateRefusal(method: Method, row: Row): string | null {
  const { pool, reservation, unitReservation } = row;
  if (method.startsWith("reservations.") && reservation) {
    const why = ofReservation(method, reservation, row.now);
    if (why !== null) return why;
  }
  if (pool?.archived && NEEDS_LIVE_POOL.has(method)) return "The pool is archived.";
  return unitReservation ? ofUnitReservation(method, unitReservation) : null;
}

const NEEDS_LIVE_POOL: ReadonlySet<Method> = new Set([
  "reservations.create",
  "reservations.extend",
  "pools.offer",
  "pools.update",
  "pools.archive",
]);

function ofReservation(
  method: Method,
  reservation: Reservation,
  now: number | undefined,
): string | null {
  // A repeat books anew: what was is no hindrance.
  if (method === "reservations.create") return null;
  if (isOver(reservation)) return `It is over: ${reservation.state}.`;
  if (method === "reservations.renew") return renewRefusal(reservation, now);
  if (method === "reservations.extend" && reservation.state === "preempting")
    return "It is under notice: it ends to make way for another booking.";
  return null;
}

function renewRefusal(reservation: Reservation, now: number | undefined): string | null {
  if (reservation.leaseSeconds === null) return "It has no lease: it lasts until its end.";
  const begun = now === undefined ? reservation.state !== "scheduled" : reservation.start <= now;
  return begun ? null : "It has not begun; its lease counts from its start.";
}

function ofUnitReservation(method: Method, row: UnitReservation): string | null {
  const { releasedUnitIds = [], reservedUnitIds, status } = row;
  const ended = status === "expired" || status === "cancelled";
  if (!method.startsWith("unitReservations.") || method === "unitReservations.create") return null;
  if (ended) return `It is over: ${status}.`;
  if (method === "unitReservations.reaffirm" && status !== "needs-review")
    return "It needs no review: the node is as it was.";
  if (method === "unitReservations.release" && status === "needs-review")
    return "It needs a review first: the node's GPUs have changed.";
  if (method === "unitReservations.release" && releasedUnitIds.length === reservedUnitIds.length)
    return "All of its units are on the spot market already.";
  if (method === "unitReservations.reclaim" && releasedUnitIds.length === 0)
    return "None of its units are on the spot market.";
  return null;
}
