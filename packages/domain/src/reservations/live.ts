/** The common first step of everything that is done to a booking: find it live, mind the version. */
import type { ReservationId, TenantId } from "../ids.ts";
import type { Reservation } from "../model.ts";
import { type Refusal, type Result, ok, refuse } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";

export interface ReservationAsk {
  readonly reservationId: ReservationId;
  /** The caller's tenant, when only its own reservation may be touched. */
  readonly tenantId: TenantId;
  /** Refused as a conflict unless the reservation is still at this version. */
  readonly version?: number | undefined;
}

export const HAS_ENDED: Refusal = {
  code: "INVALID_STATE",
  message: "the reservation has ended; an ended reservation never changes again",
};

/** The live reservation of the asking tenant; null when it is not live (any more). */
export function findLive(state: PoolState, ask: ReservationAsk): Result<Reservation | null> {
  const found = state.reservation(ask.reservationId);
  if (!found) return ok(null);
  if (found.tenantId !== ask.tenantId) return refuse({ code: "NOT_FOUND" });
  return atVersion(found, ask.version);
}

export function atVersion(found: Reservation, version: number | undefined): Result<Reservation> {
  if (version === undefined || version === found.version) return ok(found);
  return refuse({
    code: "CONFLICT",
    kind: "version",
    message: `the reservation is at version ${found.version}, not ${version}: read it again`,
  });
}
