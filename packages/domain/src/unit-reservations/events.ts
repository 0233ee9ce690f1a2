/**
 * What a unit reservation's events tell, and to whom: the operator that made it, the node's owner and the
 * orgs that manage it. The audience has no sight of it. No copy names an org or somebody's booking.
 */
import type { TenantId, UnitId } from "../ids.ts";
import type { UnitReservation } from "../claims.ts";
import type { EventType, Turn } from "../turn.ts";

export type UnitReservationEvent = Extract<EventType, `unitReservation.${string}`>;

/** One that is made, changed or over. */
export interface TermChange {
  readonly before: UnitReservation | null;
  readonly after: UnitReservation;
  /** The units that the event is about; all when absent. */
  readonly unitIds?: readonly UnitId[];
}

/** Changes the unit reservation and tells of it, in this order. */
export function changeTerm(
  turn: Turn,
  type: UnitReservationEvent,
  { before, after, unitIds = after.unitIds }: TermChange,
): UnitReservation {
  turn.apply({ kind: "unitReservation", before, after });
  const { id: unitReservationId, nodeId, status, startsAt, endsAt, topologyGen } = after;
  const data = { unitReservationId, nodeId, status, unitIds, startsAt, endsAt, topologyGen };
  const tenants = new Set<TenantId>([operatorOf(after), ...after.managingOrgIds]);
  const owner = turn.state.node(nodeId)?.ownerId;
  if (owner !== undefined) tenants.add(owner);
  turn.emit({ type, views: [...tenants].map((tenantId) => ({ tenantId, data })) });
  return after;
}

/** The tenant of the principal that made it, which stands before the first slash. */
function operatorOf({ createdBy }: UnitReservation): TenantId {
  return createdBy.slice(0, createdBy.indexOf("/"));
}
