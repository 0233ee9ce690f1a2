/** Sets units of a node aside for some tenants, for a term. */
import { TIME_MAX } from "../duration.ts";
import type { NodeId, TenantId, UnitId } from "../ids.ts";
import type { UnitReservation } from "../claims.ts";
import type { Node } from "../model.ts";
import { type Result, invalid, ok, refuse } from "../refusal.ts";
import { START_GRACE_MS } from "../reservations/request.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";
import { changeTerm } from "./events.ts";
import { whyNot } from "./qualify.ts";

/** Standing ones of one node: a year of weeks. Each is looked at by whatever is placed on the node. */
const STANDING_MAX = 64;

export interface CreateTermAsk {
  readonly nodeId: NodeId;
  readonly unitIds: readonly UnitId[];
  /** The platform's own org among them. */
  readonly allowedOrgIds: readonly TenantId[];
  readonly managingOrgIds: readonly TenantId[];
  /** Null is now. */
  readonly startsAt: number | null;
  /** Null is until it is cancelled. */
  readonly endsAt: number | null;
  readonly reason: string | null;
  readonly contractRef: string | null;
  readonly createdBy: string;
}

/**
 * Refused: input that names no free-standing GPU (the first offender is named), a term that is no term, and
 * as a conflict any other unit reservation of the units, or booking of a tenant outside the audience, that
 * overlaps it.
 */
export function createUnitReservation(turn: Turn, ask: CreateTermAsk): Result<UnitReservation> {
  const node = turn.state.node(ask.nodeId);
  if (!node) return refuse({ code: "NOT_FOUND" });
  const units = checkUnits(node, ask.unitIds);
  if (!units.ok) return units;
  const term = resolveTerm(turn.now, ask);
  if (!term.ok) return term;
  const after = newUnitReservation(turn, { ask, node, startsAt: term.value });
  const free = checkFree(turn.state, after);
  if (!free.ok) return free;
  if (turn.state.unitReservationsOn(node.id).length >= STANDING_MAX)
    return refuse({
      code: "INVALID_STATE",
      message: `node ${node.name} has ${STANDING_MAX} unit reservations that are not over: cancel one first`,
    });
  return ok(changeTerm(turn, "unitReservation.created", { before: null, after }));
}

function checkUnits(node: Node, unitIds: readonly UnitId[]): Result<null> {
  const seen = new Set<UnitId>();
  for (const [at, unitId] of unitIds.entries()) {
    const wrong = seen.has(unitId) ? `unit ${unitId} is named twice` : whyNot(node, unitId);
    if (wrong !== null) return invalid(["unitIds", at], wrong);
    seen.add(unitId);
  }
  return ok(null);
}

/** When it starts: one that has only just passed is taken for now. */
function resolveTerm(
  now: number,
  { startsAt: asked, endsAt }: Pick<CreateTermAsk, "endsAt" | "startsAt">,
): Result<number> {
  if (asked !== null && asked < now - START_GRACE_MS)
    return invalid(["startsAt"], "is over a minute in the past; leave it out to start now");
  const startsAt = Math.max(asked ?? now, now);
  if (startsAt >= TIME_MAX) return invalid(["startsAt"], "must be before 2^47 milliseconds");
  if (endsAt !== null && endsAt <= startsAt)
    return invalid(["endsAt"], "must be after startsAt, and not be past");
  return ok(startsAt);
}

function newUnitReservation(
  turn: Turn,
  { ask, node, startsAt }: { ask: CreateTermAsk; node: Node; startsAt: number },
): UnitReservation {
  const { unitIds, endsAt, reason, contractRef, createdBy } = ask;
  return {
    id: turn.freshId("ursv"),
    nodeId: node.id,
    status: startsAt <= turn.now ? "active" : "pending",
    allowedOrgIds: sorted(ask.allowedOrgIds),
    managingOrgIds: sorted(ask.managingOrgIds),
    unitIds,
    releasedUnitIds: [],
    startsAt,
    endsAt,
    endedAt: null,
    topologyGen: node.topologyGen,
    reason,
    contractRef,
    createdBy,
    createdAt: turn.now,
    updatedAt: turn.now,
  };
}

const sorted = (orgs: readonly TenantId[]): TenantId[] => [...new Set(orgs)].sort();

function checkFree(state: PoolState, wanted: UnitReservation): Result<null> {
  const { startsAt, unitIds, nodeId } = wanted;
  const end = wanted.endsAt ?? Number.POSITIVE_INFINITY;
  const taken = new Set<UnitId>();
  for (const other of state.unitReservationsOn(nodeId))
    if (other.startsAt < end && (other.endsAt ?? Number.POSITIVE_INFINITY) > startsAt)
      for (const unitId of other.unitIds) taken.add(unitId);
  const overlapping = unitIds.filter((unitId) => taken.has(unitId));
  if (overlapping.length > 0)
    return overlap("units that another unit reservation has in this term", overlapping);
  const strangers = new Set<string>();
  for (const unitId of unitIds)
    for (const booking of state.bookingsOf(unitId)) {
      const tenantId = state.reservation(booking.reservationId)?.tenantId ?? "";
      const meets = booking.start < end && booking.end > startsAt;
      if (meets && !wanted.allowedOrgIds.includes(tenantId)) strangers.add(booking.reservationId);
    }
  if (strangers.size === 0) return ok(null);
  return overlap("bookings of orgs outside the audience in this term", [...strangers].sort());
}

const NAMED_MAX = 8;

function overlap(what: string, ids: readonly string[]): Result<never> {
  const more = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : "";
  const message = `${what}: ${ids.slice(0, NAMED_MAX).join(", ")}${more}`;
  return refuse({ code: "CONFLICT", kind: "overlap", message, ids });
}
