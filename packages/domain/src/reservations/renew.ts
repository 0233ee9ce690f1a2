/** A tenant says that it still uses its leased booking. */
import type { Reservation } from "../model.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import { change } from "./events.ts";
import { HAS_ENDED, type ReservationAsk, findLive } from "./live.ts";

/**
 * Moves the lease to now + `leaseSeconds`: never back, never past the end. A lease that has lapsed is an
 * ended reservation by now, and refused as one. Before the start nothing changes: the lease counts from
 * there, which is later than from now. A renewal that moves nothing is answered unchanged, nobody told.
 */
export function renewReservation(turn: Turn, ask: ReservationAsk): Result<Reservation> {
  const live = findLive(turn.state, ask);
  if (!live.ok) return live;
  const before = live.value;
  if (before === null) return refuse(HAS_ENDED);
  const { leaseSeconds, leaseExpiresAt, end } = before;
  if (leaseSeconds === null || leaseExpiresAt === null)
    return refuse({
      code: "INVALID_STATE",
      message: "the reservation has no lease: it lasts until its end, which extend can move",
    });
  const moved = Math.min(turn.now + leaseSeconds * 1_000, end);
  if (moved <= leaseExpiresAt) return ok(before);
  const after: Reservation = {
    ...before,
    leaseExpiresAt: moved,
    version: before.version + 1,
    updatedAt: turn.now,
  };
  return ok(change(turn, "reservation.renewed", { before, after }));
}
