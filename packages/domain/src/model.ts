/**
 * The nouns of one pool, as plain readonly data. Rows of the database and answers of the API are made
 * from these; nothing here knows either. Times are integers, milliseconds since the epoch; windows are
 * half-open, so a booking that ends when the next one starts never conflicts with it.
 */
import type {
  GateId,
  MaintenanceId,
  NodeId,
  PoolId,
  ProjectId,
  ReservationId,
  SiteId,
  TenantId,
  UnitId,
} from "./ids.ts";
import type { UnitReservation, Waiter } from "./claims.ts";

export const UNIT_CLASSES = ["gpu", "gpu.mig", "gpu.slot", "nic.vf", "disk"] as const;
export type UnitClass = (typeof UNIT_CLASSES)[number];
/** What a device line may ask for: a unit's class, or `node` for every unit of a node. */
export const DEVICE_CLASSES = ["gpu", "gpu.mig", "gpu.slot", "nic.vf", "disk", "node"] as const;
export type DeviceClass = (typeof DEVICE_CLASSES)[number];

export const SCALARS = ["vcpu", "memoryGiB", "hugepages1Gi"] as const;
export type Scalar = (typeof SCALARS)[number];
/** Amounts of a node's divisible resources; every key present. */
export type ScalarAmounts = Readonly<Record<Scalar, number>>;
export const NO_SCALARS: ScalarAmounts = { vcpu: 0, memoryGiB: 0, hugepages1Gi: 0 };

/** What a rollup row counts. */
export const RESOURCES = [
  "gpu",
  "gpu.mig",
  "gpu.slot",
  "nic.vf",
  "disk",
  "node",
  "vcpu",
  "memoryGiB",
  "hugepages1Gi",
] as const;
export type Resource = (typeof RESOURCES)[number];

export const SHARING_MODES = ["exclusive", "mig", "timeslice", "mps"] as const;
export type SharingMode = (typeof SHARING_MODES)[number];
export const POOL_CLASSES = ["metal-host", "metal-dedicated", "vps-host", "provider"] as const;
export type PoolClass = (typeof POOL_CLASSES)[number];
export const AGENTS = ["bcd", "none"] as const;
export type Agent = (typeof AGENTS)[number];
export const TOPOLOGIES = ["any", "nvlink-all"] as const;
export type Topology = (typeof TOPOLOGIES)[number];

export const NODE_STATES = [
  "ready",
  "provisioning",
  "unhealthy",
  "maintenance",
  "unreachable",
] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** A window in which the node is out of service, `[start, end)`. */
export interface Maintenance {
  readonly id: MaintenanceId;
  readonly start: number;
  readonly end: number;
  /**
   * Whether its start was applied: the due transition at `start` sets it by a node change, so that an
   * answer counts the node in `maintenance` exactly from the write that told of it.
   */
  readonly active: boolean;
}

/** The smallest thing that can be booked. */
export interface Unit {
  readonly id: UnitId;
  /** The database's number for the unit: what bookings and the exclusion constraint refer to. */
  readonly key: number;
  readonly class: UnitClass;
  readonly index: number;
  readonly model: string | null;
  readonly profile: string | null;
  readonly placement: number | null;
  readonly gpuUuid: string | null;
  /** A GPU's memory or a disk's size. */
  readonly memoryGiB: number | null;
  readonly nvlinkDomain: string | null;
  readonly vfioGroup: string | null;
  readonly pciAddress: string | null;
  readonly parentUnitId: UnitId | null;
  readonly healthy: boolean;
  /** No longer reported, kept while booked: counts as unhealthy, is never placed on. */
  readonly removed: boolean;
  /** A GPU's own table of MIG placements, when its node reported one. */
  readonly migProfiles: readonly MigPlacements[] | null;
}

/** Where instances of one MIG profile may begin, in memory slices: `[start, start + size)`. */
export interface MigPlacements {
  readonly profile: string;
  /** Memory slices. */
  readonly size: number;
  readonly starts: readonly number[];
}

export interface Node {
  readonly id: NodeId;
  readonly siteId: SiteId;
  /** The site's owner, who is told of everything that happens to the node. */
  readonly ownerId: TenantId;
  readonly name: string;
  readonly address: string | null;
  readonly state: NodeState;
  readonly labels: Readonly<Record<string, string>>;
  readonly scalars: ScalarAmounts;
  readonly topologyGen: number;
  readonly version: number;
  readonly tenantOwned: boolean;
  /** By start; windows that are over are dropped by the due transition that ends them. */
  readonly maintenance: readonly Maintenance[];
  /** What can be booked: by class (order of UNIT_CLASSES), then index, then id. */
  readonly units: readonly Unit[];
  /**
   * In a pool of shared GPUs: the GPUs that the units are parts of, by index. They have ids and health of
   * their own and cannot be booked. Elsewhere GPUs are among the units, and this is empty.
   */
  readonly gpus: readonly Unit[];
}

/** One line of a request. */
export interface DeviceLine {
  readonly class: DeviceClass;
  readonly count: number;
  readonly selector?: Selector | undefined;
  readonly topology?: Topology | undefined;
  readonly sharing?: SharingMode | undefined;
}

export interface Selector {
  readonly model?: string | undefined;
  readonly profile?: string | undefined;
  /** At least this much: a GPU's memory, a disk's size. */
  readonly memoryGiB?: number | undefined;
  /** Node labels, all equal. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Exactly these units, as many as the line counts. */
  readonly unitIds?: readonly UnitId[] | undefined;
}

export interface Gang {
  readonly size: number;
  readonly topologyKey?: string | undefined;
}

/** How leased nodes are to be set up: tags of the tenant's own, stored and shown again. */
export interface NodeSetup {
  readonly profileId: string;
  readonly profileVersion: number | null;
}

export const BINDINGS = ["hold", "node"] as const;
export type Binding = (typeof BINDINGS)[number];

/** What the placer is asked: validated, durations resolved to a window. */
export interface PlaceRequest {
  /** `node` takes whole nodes: as many as the line of class `node` counts, or one a member. */
  readonly binding: Binding;
  readonly gang: Gang | null;
  /** Whether it may be preempted: only such a request may use units that are on the spot market. */
  readonly spot: boolean;
  /** For whom: units that a unit reservation withholds from this tenant are not free for it. */
  readonly tenantId: TenantId;
  readonly devices: readonly DeviceLine[];
  /** Of the whole request; `nvlink-all` applies to every gpu line. */
  readonly topology: Topology;
  /** Per member; absent scalars are 0. */
  readonly resources: ScalarAmounts;
  readonly start: number;
  readonly end: number;
}

export const RESERVATION_STATES = [
  "scheduled",
  "active",
  "preempting",
  "completed",
  "released",
  "expired",
  "preempted",
  "terminated",
] as const;
export type ReservationState = (typeof RESERVATION_STATES)[number];
export const LIVE_STATES = ["scheduled", "active", "preempting"] as const;
export type LiveState = (typeof LIVE_STATES)[number];

/** The units and scalars of one node that a reservation holds. */
export interface Member {
  readonly index: number;
  readonly nodeId: NodeId;
  readonly unitIds: readonly UnitId[];
  readonly resources: ScalarAmounts;
}

/** The notice that a reservation ends early, for the sake of another one. */
export interface Preemption {
  readonly noticeAt: number;
  /** When it ends: its `end` says the same. */
  readonly endsAt: number;
  /** Whoever needs the room. Never shown. */
  readonly byId: ReservationId;
  /** Its end before the notice, for the case that the other one gives up. */
  readonly originalEnd: number;
}

export const DEGRADED_CAUSES = [
  "NODE_STATE",
  "MAINTENANCE",
  "UNHEALTHY",
  "REMOVED",
  "NEEDS_REVIEW",
] as const;
export type DegradedCause = (typeof DEGRADED_CAUSES)[number];

/** Some of what a live reservation holds cannot be used. */
export interface Degraded {
  readonly since: number;
  /** The first that applies, in the order of `DEGRADED_CAUSES`. */
  readonly cause: DegradedCause;
  /** Those of its units that are affected. */
  readonly unitIds: readonly UnitId[];
  /** The turn that flagged it had no time left to look for other room: one of the next does. Never shown. */
  readonly untried?: true;
}

/**
 * What a victim that left before its notice was over gave back, on one node: nobody but the preemptor may
 * use it in `[from, start)` of the preemptor.
 */
export interface Pin {
  readonly nodeId: NodeId;
  /** Of the preemptor's own units. */
  readonly unitIds: readonly UnitId[];
  readonly resources: ScalarAmounts;
  readonly from: number;
}

/** A tenant's booking of units for `[start, end)` in one pool. */
export interface Reservation {
  readonly id: ReservationId;
  readonly poolId: PoolId;
  readonly tenantId: TenantId;
  /** Whose quota rows it draws on: its own tenant's, or the nearest offered ancestor's. */
  readonly chargedTenantId: TenantId;
  readonly projectId: ProjectId | null;
  readonly state: ReservationState;
  readonly binding: Binding;
  readonly gang: Gang | null;
  /** Only with binding `node`. */
  readonly node: NodeSetup | null;
  readonly spot: boolean;
  readonly start: number;
  readonly end: number;
  /** When its start was applied; null before. What has not started counts as reserved, not as allocated. */
  readonly startedAt: number | null;
  /** Set when it was told that it ends early, and kept. */
  readonly preemption: Preemption | null;
  readonly degraded: Degraded | null;
  /** Freed early by its victims; empty once it has started. */
  readonly pins: readonly Pin[];
  readonly leaseSeconds: number | null;
  readonly leaseExpiresAt: number | null;
  /** When `reservation.endingSoon` is due; null once it was sent. */
  readonly endingSoonAt: number | null;
  readonly topology: Topology;
  readonly devices: readonly DeviceLine[];
  readonly resources: ScalarAmounts;
  readonly members: readonly Member[];
  readonly endedAt: number | null;
  readonly endReason: string | null;
  readonly version: number;
  /** The principal that made it: its key's name within its key's tenant. */
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A pool made visible to a tenant (and, with `includeDescendants`, to every tenant below it). */
export interface Offer {
  readonly tenantId: TenantId;
  readonly includeDescendants: boolean;
  readonly priority: number;
}

/** What a tenant may use at most at any one instant; a missing row of a metered resource grants 0. */
export interface QuotaRow {
  readonly tenantId: TenantId;
  /** A `Resource`, or any other key: stored and never metered. */
  readonly resource: string;
  readonly max: number;
}

export interface PoolPolicy {
  readonly label?: string | undefined;
  readonly singleTenant?: boolean | undefined;
  readonly platformOperated?: boolean | undefined;
  readonly migLayout?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly sharing?: { readonly replicas: number } | undefined;
  readonly hugepages?:
    | { readonly size1Gi?: number | undefined; readonly size2Mi?: number | undefined }
    | undefined;
  readonly kernelModules?: readonly string[] | undefined;
  readonly prewarmImages?: readonly string[] | undefined;
  /** The token is kept apart, sealed; here only whether one is set. */
  readonly kubernetes?:
    | { readonly endpoint: string; readonly caHash: string; readonly tokenSet: true }
    | undefined;
  readonly placement?: "pack" | "spread" | undefined;
  readonly spot?: { readonly noticeSeconds: number } | undefined;
  /** Durations as the owner wrote them; `parseDuration` reads them. Default 366 days each. */
  readonly maxDuration?: number | string | undefined;
  readonly horizon?: number | string | undefined;
}

export const DAY_MS = 86_400_000;
export const DEFAULT_MAX_DURATION_MS: number = 366 * DAY_MS;
export const DEFAULT_HORIZON_MS: number = 366 * DAY_MS;

/** A pool without its nodes and bookings. */
export interface PoolConfig {
  readonly id: PoolId;
  readonly tenantId: TenantId;
  readonly siteId: SiteId;
  readonly siteKind: "custom" | "platform";
  readonly region: string;
  readonly class: PoolClass;
  readonly gpuModel: string | null;
  readonly sharing: SharingMode;
  readonly agent: Agent;
  readonly policy: PoolPolicy;
  readonly providerAccountId: string | null;
  readonly version: number;
  readonly archivedAt: number | null;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** By tenant id. */
  readonly offers: readonly Offer[];
  /** By tenant id, then resource. */
  readonly quotas: readonly QuotaRow[];
}

/** Everything that one gate guards, at one sequence number: what a process loads and keeps. */
export interface PoolSnapshot {
  readonly gateId: GateId;
  /** Null for the gate of a node that is in no pool. */
  readonly config: PoolConfig | null;
  readonly nodes: readonly Node[];
  /** Live ones only. */
  readonly reservations: readonly Reservation[];
  /** Those that are pending, active or in need of a review. */
  readonly unitReservations: readonly UnitReservation[];
  readonly waiters: readonly Waiter[];
}

/** One capacity row; see `rollup/` for what each number counts. */
export interface RollupRow {
  readonly resource: Resource;
  readonly total: number;
  readonly allocatable: number;
  readonly allocated: number;
  readonly reserved: number;
  readonly available: number;
  readonly provisioning: number;
  readonly unhealthy: number;
  readonly maintenance: number;
  readonly unreachable: number;
}
