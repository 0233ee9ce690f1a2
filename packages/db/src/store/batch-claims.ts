/** The parts of a batch that tell of unit reservations, with their terms, and of waiters. */
import type { UnitReservation, Waiter } from "@berth/domain";
import type { ChangeOf } from "./batch-json.ts";

/** One whose node leaves the gate is written by the gate that it comes to; see the gate's SQL. */
export function unitReservationSections(
  changes: readonly ChangeOf<"unitReservation">[],
): Record<string, unknown> {
  const moved = changes.flatMap(({ before, after }) =>
    after && termsChange(before, after) ? after : [],
  );
  return {
    unitReservations: changes.flatMap(({ after }) => (after ? unitReservationJson(after) : [])),
    termDrops: moved.map(({ id }) => id),
    terms: moved
      .filter(withholds)
      .flatMap(({ id, unitIds, startsAt, endsAt }) =>
        unitIds.map((unitId) => ({ id, unit_id: unitId, start: startsAt, end: endsAt })),
      ),
  };
}

function withholds({ endedAt }: UnitReservation): boolean {
  return endedAt === null;
}

function termsChange(before: UnitReservation | null, after: UnitReservation): boolean {
  return (
    before === null ||
    withholds(before) !== withholds(after) ||
    before.startsAt !== after.startsAt ||
    before.endsAt !== after.endsAt ||
    before.unitIds.join() !== after.unitIds.join()
  );
}

function unitReservationJson(row: UnitReservation): object {
  return {
    id: row.id,
    node_id: row.nodeId,
    status: row.status,
    allowed_org_ids: row.allowedOrgIds,
    managing_org_ids: row.managingOrgIds,
    unit_ids: row.unitIds,
    released_unit_ids: row.releasedUnitIds,
    starts_at: row.startsAt,
    ends_at: row.endsAt,
    ended_at: row.endedAt,
    topology_gen: row.topologyGen,
    reason: row.reason,
    contract_ref: row.contractRef,
    created_by: row.createdBy,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

/** One that came and went within the batch was never there. */
export function waiterSections(changes: readonly ChangeOf<"waiter">[]): Record<string, unknown> {
  return {
    waiters: changes.flatMap(({ after }) => (after ? waiterJson(after) : [])),
    waitersDone: changes.flatMap(({ before, after }) => (after ? [] : (before?.id ?? []))),
  };
}

function waiterJson(row: Waiter): object {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    ancestors: row.ancestors,
    priority: row.priority,
    since: row.since,
    deadline: row.deadline,
    server_id: row.serverId,
    key: row.key,
    ask: row.ask,
  };
}
