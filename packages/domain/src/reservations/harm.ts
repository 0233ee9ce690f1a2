/**
 * What of a booking cannot be used at some time of its window. Every hold on a unit counts by itself: a
 * unit is sound again only when none is left, whichever ends first.
 */
import type { UnitId } from "../ids.ts";
import {
  DEGRADED_CAUSES,
  type Degraded,
  type DegradedCause,
  type Member,
  type Node,
  type Reservation,
  type Unit,
} from "../model.ts";
import type { PoolState } from "../state/pool-state.ts";

export type Harm = Pick<Degraded, "cause" | "unitIds">;

/**
 * All that is wrong with the reservation; null when all that it holds can be used throughout.
 *
 * - `NODE_STATE`: the node is not ready. `MAINTENANCE`: a window of the node overlaps. Both take every unit.
 * - `UNHEALTHY`: the unit, or the GPU that it is a part of. `REMOVED`: either is no longer reported.
 * - `NEEDS_REVIEW`: a unit reservation holds it back from everyone until somebody has looked.
 */
export function harmOf(state: PoolState, reservation: Reservation): Harm | null {
  return sumOf(reservation.members.map((member) => harmOfMember(state, reservation, member)));
}

/** The part of it that one member holds. */
export function harmOfMember(
  state: PoolState,
  { start, end }: Pick<Reservation, "start" | "end">,
  { nodeId, unitIds }: Member,
): Harm | null {
  const node = state.node(nodeId);
  if (!node || node.state !== "ready") return { cause: "NODE_STATE", unitIds };
  if (node.maintenance.some((window) => window.start < end && window.end > start))
    return { cause: "MAINTENANCE", unitIds };
  const held = new Set<string>(unitIds);
  const inReview = new Set<string>();
  for (const row of state.unitReservationsOn(nodeId))
    if (row.status === "needs-review" && row.startsAt < end && (row.endsAt ?? Infinity) > start)
      for (const id of row.unitIds) inReview.add(id);
  return sumOf(
    node.units
      .filter(({ id }) => held.has(id))
      .map((unit) => {
        const cause = faultOf(node, unit) ?? (inReview.has(unit.id) ? "NEEDS_REVIEW" : null);
        return cause && { cause, unitIds: [unit.id] };
      }),
  );
}

function faultOf({ gpus }: Node, unit: Unit): DegradedCause | null {
  const parent = gpus.find(({ id }) => id === unit.parentUnitId);
  if (!unit.healthy || parent?.healthy === false) return "UNHEALTHY";
  return unit.removed || parent?.removed === true ? "REMOVED" : null;
}

/** The first cause that applies, and every unit that any concerns. */
function sumOf(harms: readonly (Harm | null)[]): Harm | null {
  const real = harms.filter((harm) => harm !== null);
  const cause = DEGRADED_CAUSES.find((one) => real.some((harm) => harm.cause === one));
  const unitIds: UnitId[] = real.flatMap((harm) => harm.unitIds);
  return cause === undefined ? null : { cause, unitIds };
}
