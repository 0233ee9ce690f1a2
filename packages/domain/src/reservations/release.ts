/** A tenant lets its booking go. */
import type { Reservation } from "../model.ts";
import { type Result, ok } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import { endReservation } from "./end.ts";
import { type ReservationAsk, findLive } from "./live.ts";

/**
 * Ends it now, whether it has begun or not. Null when it had ended before: the caller answers it as it is
 * stored, so a repeated release is harmless, whatever version it names.
 */
export function releaseReservation(turn: Turn, ask: ReservationAsk): Result<Reservation | null> {
  const live = findLive(turn.state, ask);
  if (!live.ok || live.value === null) return live;
  return ok(
    endReservation(turn, live.value, {
      trigger: "release",
      at: turn.now,
      reason: "released by its tenant",
    }),
  );
}
