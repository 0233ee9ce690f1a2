/** The common first step of everything that is done to a unit reservation: find it, read what was named of it. */
import type { NodeId, UnitId, UnitReservationId } from "../ids.ts";
import type { UnitReservation } from "../claims.ts";
import { type Result, invalid, ok, refuse } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";

export interface TermAsk {
  readonly nodeId: NodeId;
  readonly unitReservationId: UnitReservationId;
}

/** Refused when it is over: the caller has seen to it that it is the node's. */
export function findStanding(state: PoolState, ask: TermAsk): Result<UnitReservation> {
  const found = state.unitReservation(ask.unitReservationId);
  if (found?.nodeId === ask.nodeId) return ok(found);
  return refuse({
    code: "INVALID_STATE",
    message: "the unit reservation is over: it has expired or was cancelled",
  });
}

/** The units that a call names, once each and all of the reservation; all of it when it names none. */
export function namedUnits(
  { unitIds: all }: UnitReservation,
  named: readonly UnitId[] | undefined,
): Result<readonly UnitId[]> {
  if (!named) return ok(all);
  const seen = new Set<UnitId>();
  for (const [at, unitId] of named.entries()) {
    if (seen.has(unitId)) return invalid(["unitIds", at], `unit ${unitId} is named twice`);
    if (!all.includes(unitId))
      return invalid(["unitIds", at], `unit ${unitId} is not one of this unit reservation`);
    seen.add(unitId);
  }
  return ok(named);
}

/** Whether a standing unit reservation of the node speaks for the unit: until it is over the unit is kept. */
export function isSpokenFor(state: PoolState, nodeId: NodeId, unitId: UnitId): boolean {
  return state.unitReservationsOn(nodeId).some(({ unitIds }) => unitIds.includes(unitId));
}
