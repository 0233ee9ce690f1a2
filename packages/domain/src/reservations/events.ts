/** What a reservation's events tell, and to whom: its own tenant, and nobody else of the pool. */
import type { Reservation } from "../model.ts";
import type { EventType, Turn } from "../turn.ts";

export type ReservationEvent = Extract<EventType, `reservation.${string}`>;

/** Tells of a change to the reservation; `after` is as it is from now on. */
export function tell(turn: Turn, type: ReservationEvent, after: Reservation): void {
  tellMore(turn, { type, after, more: {} });
}

/** The same with facts that only this event has. */
export function tellMore(
  turn: Turn,
  told: {
    readonly type: ReservationEvent;
    readonly after: Reservation;
    readonly more: Readonly<Record<string, unknown>>;
  },
): void {
  const { type, after, more } = told;
  const { id: reservationId, tenantId } = after;
  const data = { ...reservationFacts(after), ...more };
  turn.emit({ type, reservationId, views: [{ tenantId, data }] });
}

/** Changes the reservation and tells of it, in this order. */
export function change(
  turn: Turn,
  type: ReservationEvent,
  pair: { before: Reservation | null; after: Reservation },
): Reservation {
  turn.apply({ kind: "reservation", before: pair.before, after: pair.after });
  tell(turn, type, pair.after);
  return pair.after;
}

function reservationFacts(r: Reservation): Readonly<Record<string, unknown>> {
  return {
    reservationId: r.id,
    poolId: r.poolId,
    projectId: r.projectId,
    state: r.state,
    start: r.start,
    end: r.end,
    leaseExpiresAt: r.leaseExpiresAt,
    endedAt: r.endedAt,
    endReason: r.endReason,
    version: r.version,
  };
}
