/** The part of a batch that tells of reservations, and what it means for their bookings. */
import type { Reservation, UnitId } from "@berth/domain";
import type { ChangeOf } from "./batch-json.ts";

interface ReservationSections {
  readonly created: object[];
  readonly changed: object[];
  /** Ids whose bookings go: re-placed, or never begun. */
  readonly drops: string[];
  readonly cuts: object[];
  readonly extends: object[];
  readonly bookings: object[];
}

export function reservationSections(
  changes: readonly ChangeOf<"reservation">[],
): Record<string, unknown> {
  const sections: ReservationSections = {
    created: [],
    changed: [],
    drops: [],
    cuts: [],
    extends: [],
    bookings: [],
  };
  for (const { before, after } of changes) {
    const row = reservationJson(after);
    (before ? sections.changed : sections.created).push(row);
    bookingChange(sections, before, after);
  }
  return { ...sections };
}

/** What the change means for the reservation's bookings. They always hold `[start or pin, heldUntil)`. */
function bookingChange(
  sections: ReservationSections,
  before: Reservation | null,
  after: Reservation,
): void {
  const until = heldUntil(after);
  const keeps = until > after.start;
  const stays = before !== null && before.start === after.start && sameSpans(before, after);
  if (stays && keeps) {
    const had = heldUntil(before);
    if (until < had) sections.cuts.push({ id: after.id, end: until });
    if (until > had) sections.extends.push({ id: after.id, end: until });
    return;
  }
  if (before) sections.drops.push(after.id);
  if (!keeps) return;
  const pinned = pinnedFrom(after);
  for (const { unitIds } of after.members)
    for (const unitId of unitIds) {
      const start = pinned.get(unitId) ?? after.start;
      sections.bookings.push({ id: after.id, unit_id: unitId, start, end: until });
    }
}

/** An ended reservation holds what it used: up to its end when it ran out, less when it left early. */
function heldUntil({ end, endedAt }: Reservation): number {
  return endedAt === null ? end : Math.min(end, endedAt);
}

/** Units that are held before the start: what early victims gave back to it. Nothing once it has ended. */
function pinnedFrom({ pins, start, endedAt }: Reservation): ReadonlyMap<UnitId, number> {
  if (pins.length === 0 || endedAt !== null) return NOTHING_PINNED;
  return new Map(
    pins.flatMap(({ unitIds, from }) => unitIds.map((unitId) => [unitId, Math.min(from, start)])),
  );
}
const NOTHING_PINNED: ReadonlyMap<UnitId, number> = new Map();

/** Whether both hold the same units, each since the same instant. */
function sameSpans(a: Reservation, b: Reservation): boolean {
  if (a.members === b.members && a.pins.length === 0 && b.pins.length === 0) return true;
  const spans = (row: Reservation): string => {
    const pinned = pinnedFrom(row);
    return row.members
      .flatMap((member) => member.unitIds)
      .map((unitId) => `${unitId} ${pinned.get(unitId) ?? ""}`)
      .toSorted()
      .join();
  };
  return spans(a) === spans(b);
}

function reservationJson(row: Reservation): object {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    charged_tenant_id: row.chargedTenantId,
    project_id: row.projectId,
    state: row.state,
    binding: row.binding,
    gang: row.gang,
    node_setup: row.node,
    spot: row.spot,
    start: row.start,
    end: row.end,
    started_at: row.startedAt,
    preemption: row.preemption,
    degraded: row.degraded,
    pins: row.pins,
    lease_seconds: row.leaseSeconds,
    lease_expires_at: row.leaseExpiresAt,
    ending_soon_at: row.endingSoonAt,
    topology: row.topology,
    devices: row.devices,
    resources: row.resources,
    members: row.members,
    ended_at: row.endedAt,
    end_reason: row.endReason,
    version: row.version,
    created_by: row.createdBy,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
