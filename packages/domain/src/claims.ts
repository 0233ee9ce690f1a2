/** Who else has a claim on a pool's units: the operator who sets them aside, and those who wait for room. */
import type {
  NodeId,
  PoolId,
  ProjectId,
  ReservationId,
  TenantId,
  UnitId,
  UnitReservationId,
} from "./ids.ts";
import type { BookingShape } from "./reservations/request.ts";

export const UNIT_RESERVATION_STATUSES = [
  "pending",
  "active",
  "expired",
  "cancelled",
  "needs-review",
] as const;
export type UnitReservationStatus = (typeof UNIT_RESERVATION_STATUSES)[number];

/** Exact GPUs of one node, ring-fenced for some tenants (its audience) for `[startsAt, endsAt)`. */
export interface UnitReservation {
  readonly id: UnitReservationId;
  readonly nodeId: NodeId;
  readonly status: UnitReservationStatus;
  /** Who may book the units, sorted; the platform's own org is always one of them. */
  readonly allowedOrgIds: readonly TenantId[];
  /** Who may release, reclaim and so end spot bookings on the units, sorted. */
  readonly managingOrgIds: readonly TenantId[];
  readonly unitIds: readonly UnitId[];
  /** Those of them that are on the spot market. */
  readonly releasedUnitIds: readonly UnitId[];
  readonly startsAt: number;
  /** Null: until it is cancelled. */
  readonly endsAt: number | null;
  /** When it expired or was cancelled. */
  readonly endedAt: number | null;
  /** The node's when it was written, or last affirmed. */
  readonly topologyGen: number;
  readonly reason: string | null;
  readonly contractRef: string | null;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A booking that did not fit and waits for room, in memory of nobody: any server may serve it. */
export interface Waiter {
  /** The id of the reservation that it becomes. */
  readonly id: ReservationId;
  readonly poolId: PoolId;
  readonly tenantId: TenantId;
  /** Parent first, as they were when it began to wait. */
  readonly ancestors: readonly TenantId[];
  /** The offer's; the owner's own is 0. */
  readonly priority: number;
  readonly since: number;
  /** Absolute; from then on it gets nothing. */
  readonly deadline: number;
  /** The server that holds its caller's connection: it lives no longer than that. */
  readonly serverId: string;
  readonly key: WaiterKey | null;
  readonly ask: WaiterAsk;
}

export interface WaiterKey {
  readonly principal: string;
  readonly key: string;
  readonly requestHash: string;
}

/** What it asks for, as plain data. */
export interface WaiterAsk extends BookingShape {
  readonly projectId: ProjectId | null;
  readonly leaseSeconds: number | null;
  readonly createdBy: string;
}
