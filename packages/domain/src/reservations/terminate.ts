/** The pool's owner or an operator ends a tenant's booking. */
import type { ReservationId } from "../ids.ts";
import type { Reservation } from "../model.ts";
import { type Result, ok } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import { endReservation } from "./end.ts";
import { atVersion } from "./live.ts";

export interface TerminateAsk {
  readonly reservationId: ReservationId;
  /** Told to the tenant. */
  readonly reason: string;
  readonly version?: number | undefined;
}

/** Ends it now, with the reason given. Null when it had ended before: it is answered as it is stored. */
export function terminateReservation(turn: Turn, ask: TerminateAsk): Result<Reservation | null> {
  const found = turn.state.reservation(ask.reservationId);
  if (!found) return ok(null);
  const live = atVersion(found, ask.version);
  if (!live.ok) return live;
  return ok(
    endReservation(turn, live.value, { trigger: "terminate", at: turn.now, reason: ask.reason }),
  );
}
