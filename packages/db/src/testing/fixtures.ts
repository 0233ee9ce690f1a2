/** Small domain objects for this package's own tests; nothing random. */
import type {
  Change,
  DomainEvent,
  Node,
  NodeId,
  PoolConfig,
  PoolId,
  Reservation,
  ReservationId,
  Unit,
  UnitId,
  UnitReservation,
  Waiter,
} from "@berth/domain";
import type { GateBatch, KeyClaim } from "../store/types.ts";

export const T0 = 1_800_000_000_000;
export const HOUR = 3_600_000;

export function id<P extends string>(prefix: P, n: number | string): `${P}_${string}` {
  return `${prefix}_${String(n).padStart(26, "0")}`;
}

export function poolOf(n: number, change: Partial<PoolConfig> = {}): PoolConfig {
  return {
    id: id("pool", n),
    tenantId: "t-owner",
    siteId: id("site", 1),
    siteKind: "custom",
    region: "eu-1",
    class: "metal-host",
    gpuModel: "H100",
    sharing: "exclusive",
    agent: "bcd",
    policy: { label: "first" },
    providerAccountId: null,
    version: 1,
    archivedAt: null,
    createdBy: "owner",
    createdAt: T0,
    updatedAt: T0,
    offers: [{ tenantId: "t-a", includeDescendants: false, priority: 0 }],
    quotas: [
      { tenantId: "t-a", resource: "gpu", max: 64 },
      { tenantId: "t-owner", resource: "gpu", max: 1000 },
    ],
    ...change,
  };
}

export function unitOf(node: NodeId, index: number, change: Partial<Unit> = {}): Unit {
  return {
    id: `unit_${node.slice(-20)}${String(index).padStart(6, "0")}` as UnitId,
    key: 0,
    class: "gpu",
    index,
    model: "H100",
    profile: null,
    placement: null,
    gpuUuid: `GPU-${node}-${index}`,
    memoryGiB: 80,
    nvlinkDomain: "0",
    vfioGroup: null,
    pciAddress: null,
    parentUnitId: null,
    healthy: true,
    removed: false,
    migProfiles: null,
    ...change,
  };
}

export function nodeOf(n: number, gpus = 8, change: Partial<Node> = {}): Node {
  const nodeId = id("node", n);
  return {
    id: nodeId,
    siteId: id("site", 1),
    ownerId: "t-owner",
    name: `node-${n}`,
    address: null,
    state: "ready",
    labels: { rack: "r1" },
    scalars: { vcpu: 96, memoryGiB: 1024, hugepages1Gi: 0 },
    topologyGen: 1,
    version: 1,
    tenantOwned: true,
    maintenance: [],
    units: Array.from({ length: gpus }, (_, index) => unitOf(nodeId, index)),
    gpus: [],
    ...change,
  };
}

export function bookingOf(
  n: number | string,
  node: Node,
  change: Partial<Reservation> & { units?: readonly number[]; poolId: PoolId },
): Reservation {
  const { units = [0], ...rest } = change;
  const unitIds = units.map((index) => node.units[index]?.id ?? ("unit_missing" as UnitId));
  const resources = { vcpu: 1, memoryGiB: 8, hugepages1Gi: 0 };
  return {
    id: id("rsv", n),
    tenantId: "t-a",
    chargedTenantId: "t-a",
    projectId: null,
    state: "active",
    binding: "hold",
    gang: null,
    node: null,
    spot: false,
    start: T0,
    end: T0 + HOUR,
    startedAt: rest.state === "scheduled" || rest.state === "preempting" ? null : T0,
    preemption: null,
    degraded: null,
    pins: [],
    leaseSeconds: null,
    leaseExpiresAt: null,
    endingSoonAt: null,
    topology: "any",
    devices: [{ class: "gpu", count: unitIds.length }],
    resources,
    members: [{ index: 0, nodeId: node.id, unitIds, resources }],
    endedAt: null,
    endReason: null,
    version: 1,
    createdBy: "someone",
    createdAt: T0,
    updatedAt: T0,
    ...rest,
  };
}

/** A unit reservation of some of the node's units, from now on. */
export function fenceOf(
  n: number | string,
  node: Node,
  change: Partial<UnitReservation> & { units?: readonly number[] } = {},
): UnitReservation {
  const { units = [0], ...rest } = change;
  return {
    id: id("ursv", n),
    nodeId: node.id,
    status: "active",
    allowedOrgIds: ["platform", "t-a"],
    managingOrgIds: ["t-m"],
    unitIds: units.map((index) => node.units[index]?.id ?? ("unit_missing" as UnitId)),
    releasedUnitIds: [],
    startsAt: T0,
    endsAt: T0 + HOUR,
    endedAt: null,
    topologyGen: 1,
    reason: "a contract",
    contractRef: null,
    createdBy: "platform/ops",
    createdAt: T0,
    updatedAt: T0,
    ...rest,
  };
}

export function waiterOf(n: number | string, poolId: PoolId, change: Partial<Waiter> = {}): Waiter {
  return {
    id: id("rsv", n),
    poolId,
    tenantId: "t-a",
    ancestors: ["t-parent"],
    priority: 3,
    since: T0,
    deadline: T0 + HOUR,
    serverId: "srv_1",
    key: { principal: "someone", key: `wait-${n}`, requestHash: "h" },
    ask: {
      binding: "hold",
      gang: { size: 2, topologyKey: "rack" },
      node: null,
      spot: false,
      devices: [{ class: "gpu", count: 1 }],
      topology: "any",
      resources: { vcpu: 1, memoryGiB: 8, hugepages1Gi: 0 },
      start: null,
      durationMs: HOUR,
      projectId: null,
      leaseSeconds: null,
      createdBy: "someone",
    },
    ...change,
  };
}

export function created(after: Reservation): Change {
  return { kind: "reservation", before: null, after };
}

export function changed(before: Reservation, change: Partial<Reservation>): Change {
  return {
    kind: "reservation",
    before,
    after: { ...before, ...change, version: before.version + 1 },
  };
}

export function claim(n: number | string, reservationId: ReservationId): KeyClaim {
  return {
    tenantId: "t-a",
    principal: "someone",
    key: `key-${n}`,
    requestHash: "h",
    reservationId,
  };
}

export function eventOf(n: number | string, tenantIds: readonly string[]): DomainEvent {
  return {
    id: id("evt", n),
    type: "reservation.created",
    at: T0,
    reservationId: null,
    views: tenantIds.map((tenantId) => ({ tenantId, data: { for: tenantId } })),
  };
}

export function batchOf(batchId: string, part: Partial<GateBatch> = {}): GateBatch {
  return {
    id: batchId,
    keys: [],
    changes: [],
    quotaUsed: [],
    rollup: [],
    events: [],
    nextDueAt: null,
    ...part,
  };
}
