/** A unit reservation as the API shows it: what it does not have is left out, times are texts in UTC. */
import { type Output, timeText } from "@berth/contract";
import type { ReclaimPlan, UnitReservation } from "@berth/domain";

export type UnitReservationView = Output<"unitReservations.get">;

export function unitReservationView(row: UnitReservation): UnitReservationView {
  const { managingOrgIds, releasedUnitIds, endsAt, reason, contractRef } = row;
  return {
    id: row.id,
    nodeId: row.nodeId,
    status: row.status,
    allowedOrgIds: [...row.allowedOrgIds],
    ...(managingOrgIds.length > 0 ? { managingOrgIds: [...managingOrgIds] } : {}),
    reservedUnitIds: [...row.unitIds],
    ...(releasedUnitIds.length > 0 ? { releasedUnitIds: [...releasedUnitIds] } : {}),
    startsAt: timeText(row.startsAt),
    ...(endsAt === null ? {} : { endsAt: timeText(endsAt) }),
    topologyGen: row.topologyGen,
    ...(reason === null ? {} : { reason }),
    ...(contractRef === null ? {} : { contractRef }),
    createdAt: timeText(row.createdAt),
    updatedAt: timeText(row.updatedAt),
  };
}

export function plannedView({ terminate, skip }: ReclaimPlan): {
  wouldTerminate: NonNullable<UnitReservationView["wouldTerminate"]>;
  wouldSkip: NonNullable<UnitReservationView["wouldSkip"]>;
} {
  return { wouldTerminate: [...terminate], wouldSkip: [...skip] };
}
