/** Takes units back from the spot market, and ends what was booked on them there. */
import type { ReservationId, UnitId } from "../ids.ts";
import type { UnitReservation } from "../claims.ts";
import type { Reservation } from "../model.ts";
import { type Result, invariant, ok } from "../refusal.ts";
import { endReservation } from "../reservations/end.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";
import { changeTerm } from "./events.ts";
import { type TermAsk, findStanding, namedUnits } from "./find.ts";

/** What a reclaim does to live bookings. */
export interface ReclaimPlan {
  /** Spot bookings that end, by id. */
  readonly terminate: readonly ReservationId[];
  /** Others, which run on, by id. */
  readonly skip: readonly ReservationId[];
}

export interface ReclaimAsk extends TermAsk {
  /** All when absent. */
  readonly unitIds?: readonly UnitId[] | undefined;
  /** The bookings that the caller was shown as ending; with others nothing is done. */
  readonly expect?: readonly ReservationId[] | undefined;
}

export interface Reclaim {
  readonly reservation: UnitReservation;
  readonly plan: ReclaimPlan;
  /** False when `expect` no longer holds: nothing is done then. */
  readonly agreed: boolean;
}

interface Planned extends Reclaim {
  /** Those of the named units that are on the market. */
  readonly unitIds: readonly UnitId[];
}

/** What the call would do at this state, and whether it would do it: all that a dry run is. */
export function planReclaim(state: PoolState, ask: ReclaimAsk): Result<Planned> {
  const found = findStanding(state, ask);
  if (!found.ok) return found;
  const reservation = found.value;
  const named = namedUnits(reservation, ask.unitIds);
  if (!named.ok) return named;
  const unitIds = named.value.filter((unitId) => reservation.releasedUnitIds.includes(unitId));
  const holders = holdersIn(state, reservation, unitIds);
  const idsOf = (spot: boolean): ReservationId[] =>
    holders.filter((holder) => holder.spot === spot).map(({ id }) => id);
  const plan = { terminate: idsOf(true), skip: idsOf(false) };
  const agreed = ask.expect === undefined || sameSet(ask.expect, plan.terminate);
  return ok({ reservation, unitIds, plan, agreed });
}

/**
 * The units leave the market and every spot booking on them ends as a whole, begun or not, whoever's and
 * whatever else it holds. Units that are not on the market stay as they are, so a second call does nothing.
 */
export function reclaimUnits(turn: Turn, ask: ReclaimAsk): Result<Reclaim> {
  const planned = planReclaim(turn.state, ask);
  if (!planned.ok || !planned.value.agreed || planned.value.unitIds.length === 0) return planned;
  const { reservation: before, unitIds, plan, agreed } = planned.value;
  const after: UnitReservation = {
    ...before,
    releasedUnitIds: before.releasedUnitIds.filter((unitId) => !unitIds.includes(unitId)),
    updatedAt: turn.now,
  };
  changeTerm(turn, "unitReservation.reclaimed", { before, after, unitIds });
  for (const id of plan.terminate) {
    const live = turn.state.reservation(id);
    invariant(live, "no end of one booking ends another");
    const how = { trigger: "terminate", at: turn.now, reason: RECLAIMED } as const;
    endReservation(turn, live, how);
  }
  return ok({ reservation: after, plan, agreed });
}

const RECLAIMED = "its units were taken back from the spot market";

/** Live bookings that hold one of the units inside the term, by id. */
function holdersIn(
  state: PoolState,
  { nodeId, startsAt, endsAt }: UnitReservation,
  unitIds: readonly UnitId[],
): Reservation[] {
  const wanted = new Set(unitIds);
  return state
    .reservationsOn(nodeId)
    .filter(
      ({ members, start, end }) =>
        start < (endsAt ?? Number.POSITIVE_INFINITY) &&
        end > startsAt &&
        members.some((member) => member.unitIds.some((unitId) => wanted.has(unitId))),
    );
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((id) => right.has(id));
}
