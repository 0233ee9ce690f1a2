/** Puts units of a unit reservation on the spot market: anybody with an offer may book them as spot. */
import type { UnitId } from "../ids.ts";
import type { UnitReservation } from "../claims.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import { changeTerm } from "./events.ts";
import { type TermAsk, findStanding, namedUnits } from "./find.ts";

export interface ReleaseUnitsAsk extends TermAsk {
  /** All when absent. */
  readonly unitIds?: readonly UnitId[] | undefined;
}

/** Units that are on the market stay there; a call that puts none there changes nothing and tells of nothing. */
export function releaseUnits(turn: Turn, ask: ReleaseUnitsAsk): Result<UnitReservation> {
  const found = findStanding(turn.state, ask);
  if (!found.ok) return found;
  const before = found.value;
  const named = namedUnits(before, ask.unitIds);
  if (!named.ok) return named;
  if (before.status === "needs-review")
    return refuse({
      code: "INVALID_STATE",
      message: "the unit reservation needs a review and grants nothing until it is reaffirmed",
    });
  const unitIds = named.value.filter((unitId) => !before.releasedUnitIds.includes(unitId));
  if (unitIds.length === 0) return ok(before);
  const now = new Set([...before.releasedUnitIds, ...unitIds]);
  const after: UnitReservation = {
    ...before,
    releasedUnitIds: before.unitIds.filter((unitId) => now.has(unitId)),
    updatedAt: turn.now,
  };
  return ok(changeTerm(turn, "unitReservation.released", { before, after, unitIds }));
}
