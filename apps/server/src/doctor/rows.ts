/** The rows that several checks start from, as the tables hold them. */
import { LIVE, type Query } from "./query.ts";

export interface MemberRow {
  readonly index: number;
  readonly nodeId: string;
  readonly unitIds: readonly string[];
  readonly resources: Readonly<Record<string, number>>;
}

/** Held for a preemptor before its start: an early victim gave it back. */
export interface PinRow {
  readonly nodeId: string;
  readonly unitIds: readonly string[];
  readonly resources: Readonly<Record<string, number>>;
  readonly from: number;
}

export interface ReservationRow {
  readonly id: string;
  readonly poolId: string;
  readonly tenantId: string;
  readonly chargedTenantId: string;
  readonly state: string;
  readonly binding: string;
  readonly gang: { readonly size: number } | null;
  readonly nodeSetup: object | null;
  readonly spot: boolean;
  readonly start: number;
  readonly end: number;
  readonly startedAt: number | null;
  readonly createdAt: number;
  readonly devices: readonly { readonly class: string; readonly count: number }[];
  readonly members: readonly MemberRow[];
  readonly pins: readonly PinRow[];
}

export function liveReservations(query: Query): Promise<readonly ReservationRow[]> {
  return query<ReservationRow>(
    `select id, pool_id as "poolId", tenant_id as "tenantId", charged_tenant_id as "chargedTenantId",
            state, binding, gang, node_setup as "nodeSetup", spot, start::float8 as start,
            "end"::float8 as "end", started_at::float8 as "startedAt",
            created_at::float8 as "createdAt", devices, members, pins
       from reservations where state in ${LIVE} order by id`,
  );
}

/** Since when a reservation holds the unit: its start, or before it what was pinned for it. */
export function heldFrom({ pins, start }: ReservationRow, unitId: string): number {
  const pinned = pins.filter((pin) => pin.unitIds.includes(unitId)).map(({ from }) => from);
  return Math.min(start, ...pinned);
}

export interface UnitRow {
  readonly key: number;
  readonly id: string;
  readonly nodeId: string;
  readonly gateId: string;
  readonly class: string;
  readonly parentUnitId: string | null;
  readonly placement: number | null;
  /** A GPU that is not booked itself: its parts are. */
  readonly carrier: boolean;
  readonly healthy: boolean;
  /** No longer reported, kept while it is booked. */
  readonly removed: boolean;
  /** Left its node; the row stays for the history of its bookings. */
  readonly gone: boolean;
}

export function units(query: Query): Promise<readonly UnitRow[]> {
  return query<UnitRow>(
    `select key::float8 as key, id, node_id as "nodeId", gate_id as "gateId", class,
            parent_unit_id as "parentUnitId", placement, carrier, healthy, removed,
            gone_at is not null as gone
       from units order by id`,
  );
}

export interface NodeRow {
  readonly id: string;
  readonly name: string;
  readonly gateId: string;
  readonly poolId: string | null;
  readonly state: string;
  readonly vcpu: number;
  readonly memoryGiB: number;
  readonly hugepages1Gi: number;
}

export function nodes(query: Query): Promise<readonly NodeRow[]> {
  return query<NodeRow>(
    `select id, name, gate_id as "gateId", pool_id as "poolId", state, vcpu::float8 as vcpu,
            memory_gib::float8 as "memoryGiB", hugepages_1gi::float8 as "hugepages1Gi"
       from nodes where removed_at is null order by id`,
  );
}

/** Until when each gate has applied what was due: stored counters are true at that instant. */
export async function appliedUntil(query: Query): Promise<ReadonlyMap<string, number>> {
  const rows = await query<{ id: string; at: number }>(
    `select id, last_at::float8 as at from gates`,
  );
  return new Map(rows.map((row) => [row.id, row.at]));
}
