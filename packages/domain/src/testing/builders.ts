/** Plain data for tests: every field has a dull default, so that a test states only what it is about. */
import type { MaintenanceId, NodeId, ReservationId, UnitId } from "../ids.ts";
import { NO_SCALARS, UNIT_CLASSES } from "../model.ts";
import type { UnitReservation } from "../claims.ts";
import type {
  Maintenance,
  Node,
  PlaceRequest,
  PoolConfig,
  PoolPolicy,
  PoolSnapshot,
  Reservation,
  Unit,
  UnitClass,
} from "../model.ts";

/** Well-formed, and in the order of their numbers. */
const digits = (n: number, width: number): string => String(n).padStart(width, "0");

export const nodeIdOf = (n: number): NodeId => `node_${digits(n, 26)}`;
export const unitIdOf = (n: number): UnitId => `unit_${digits(n, 26)}`;
export const reservationIdOf = (n: number): ReservationId => `rsv_${digits(n, 26)}`;
export const maintenanceIdOf = (n: number): MaintenanceId => `mnt_${digits(n, 26)}`;

/** Units of node `n` are numbered from here. */
const UNITS_A_NODE = 1000;
/** GPUs that are shared out come after all that can be booked. */
const GPUS_FROM = 900;

/** A healthy unit; `index` is its place within the node and part of its id. */
export function buildUnit(n: number, index: number, more: Partial<Unit> = {}): Unit {
  const number = n * UNITS_A_NODE + index;
  return {
    id: unitIdOf(number),
    key: number,
    class: "gpu",
    index,
    model: null,
    profile: null,
    placement: null,
    gpuUuid: null,
    memoryGiB: null,
    nvlinkDomain: null,
    vfioGroup: null,
    pciAddress: null,
    parentUnitId: null,
    healthy: true,
    removed: false,
    migProfiles: null,
    ...more,
  };
}

export interface NodeShape {
  readonly gpus?: number;
  readonly vfs?: number;
  readonly disks?: number;
  /** GPUs an NVLink domain; all of the node's when absent, 0 for no domains. */
  readonly domainOf?: number;
}

/** A ready node number `n` with `gpus` H100s in NVLink domains. */
export function buildNode(n: number, shape: NodeShape = {}, more: Partial<Node> = {}): Node {
  const { gpus = 8, vfs = 0, disks = 0, domainOf = gpus } = shape;
  const classes: UnitClass[] = [
    ...Array<UnitClass>(gpus).fill("gpu"),
    ...Array<UnitClass>(vfs).fill("nic.vf"),
    ...Array<UnitClass>(disks).fill("disk"),
  ];
  const units = classes.map((kind, index) => {
    if (kind !== "gpu")
      return buildUnit(n, index, { class: kind, memoryGiB: kind === "disk" ? 3_500 : null });
    const domain = domainOf > 0 ? `nvl${Math.floor(index / domainOf)}` : null;
    return buildUnit(n, index, { model: "H100", memoryGiB: 80, nvlinkDomain: domain });
  });
  return {
    id: nodeIdOf(n),
    siteId: `site_${digits(1, 26)}`,
    ownerId: "t-own",
    name: `n${n}`,
    address: null,
    state: "ready",
    labels: {},
    scalars: { vcpu: 96, memoryGiB: 1024, hugepages1Gi: 0 },
    topologyGen: 1,
    version: 1,
    tenantOwned: false,
    maintenance: [],
    units,
    gpus: [],
    ...more,
  };
}

/**
 * A ready node number `n` of a pool that shares GPUs out: each GPU is given by its MIG instances
 * (`3g.40gb@4`) or by its number of slots. GPU `g` has index `g`, and `gpus[g]` is it.
 */
export function buildSharedNode(
  n: number,
  cuts: readonly (readonly string[] | number)[],
  more: Partial<Node> = {},
): Node {
  const gpus = cuts.map((_, g) => ({
    ...buildUnit(n, GPUS_FROM + g, { model: "H100", memoryGiB: 80, gpuUuid: `GPU-${n}-${g}` }),
    index: g,
  }));
  const units = cuts.flatMap((cut, g) => {
    const gpu = gpus[g] as Unit;
    const common = { model: gpu.model, gpuUuid: gpu.gpuUuid, parentUnitId: gpu.id };
    if (typeof cut === "number")
      return Array.from({ length: cut }, (_, slot) =>
        buildUnit(n, g * 48 + slot, { ...common, class: "gpu.slot", memoryGiB: gpu.memoryGiB }),
      );
    return cut.map((instance) => {
      const [profile = "", start = "0"] = instance.split("@");
      const placement = Number(start);
      const memoryGiB = Number(/\.(\d+)gb/.exec(profile)?.[1] ?? 0);
      const part = { ...common, class: "gpu.mig" as const, profile, placement, memoryGiB };
      return buildUnit(n, g * 16 + placement, part);
    });
  });
  return buildNode(n, { gpus: 0 }, { gpus, units: inUnitOrder(units), ...more });
}

/** Units as a node lists them: by class, then index, then id. */
export function inUnitOrder(units: readonly Unit[]): Unit[] {
  const rank = (unit: Unit): number => UNIT_CLASSES.indexOf(unit.class);
  return [...units].sort(
    (a, b) => rank(a) - rank(b) || a.index - b.index || (a.id < b.id ? -1 : 1),
  );
}

export function buildMaintenance(
  n: number,
  window: Omit<Maintenance, "id" | "active"> & { active?: boolean },
): Maintenance {
  return { active: false, ...window, id: maintenanceIdOf(n) };
}

export function buildConfig(policy: PoolPolicy = {}, more: Partial<PoolConfig> = {}): PoolConfig {
  return {
    id: `pool_${digits(1, 26)}`,
    tenantId: "t-own",
    siteId: `site_${digits(1, 26)}`,
    siteKind: "custom",
    region: "r1",
    class: "metal-host",
    gpuModel: "H100",
    sharing: "exclusive",
    agent: "bcd",
    policy,
    providerAccountId: null,
    version: 1,
    archivedAt: null,
    createdBy: "owner",
    createdAt: 0,
    updatedAt: 0,
    offers: [],
    quotas: [],
    ...more,
  };
}

/** A live reservation of the units, all on one node; `active` when it has started at 0. */
export function buildReservation(
  n: number,
  held: { readonly node: Node; readonly unitIds: readonly UnitId[] },
  more: Partial<Reservation> & Pick<Reservation, "start" | "end">,
): Reservation {
  const resources = more.resources ?? NO_SCALARS;
  return {
    id: reservationIdOf(n),
    poolId: `pool_${digits(1, 26)}`,
    tenantId: "t-a",
    chargedTenantId: "t-a",
    projectId: null,
    state: more.start <= 0 ? "active" : "scheduled",
    binding: "hold",
    gang: null,
    node: null,
    spot: false,
    startedAt: more.start <= 0 ? more.start : null,
    preemption: null,
    degraded: null,
    pins: [],
    leaseSeconds: null,
    leaseExpiresAt: null,
    endingSoonAt: null,
    topology: "any",
    devices: [{ class: "gpu", count: held.unitIds.length }],
    resources,
    members: [{ index: 0, nodeId: held.node.id, unitIds: held.unitIds, resources }],
    endedAt: null,
    endReason: null,
    version: 1,
    createdBy: "tester",
    createdAt: 0,
    updatedAt: 0,
    ...more,
  };
}

/** In force for `t-own` from 0 on, unless said otherwise. */
export function buildUnitReservation(
  n: number,
  more: Partial<UnitReservation> & Pick<UnitReservation, "nodeId" | "unitIds">,
): UnitReservation {
  return {
    id: `ursv_${digits(n, 26)}`,
    status: "active",
    allowedOrgIds: ["t-own"],
    managingOrgIds: [],
    releasedUnitIds: [],
    startsAt: 0,
    endsAt: null,
    endedAt: null,
    topologyGen: 1,
    reason: null,
    contractRef: null,
    createdBy: "operator",
    createdAt: 0,
    updatedAt: 0,
    ...more,
  };
}

export function buildSnapshot(
  nodes: readonly Node[],
  reservations: readonly Reservation[] = [],
  config: PoolConfig = buildConfig(),
): PoolSnapshot {
  return { gateId: config.id, config, nodes, reservations, unitReservations: [], waiters: [] };
}

/** One GPU in `[0, 10)`, unless said otherwise. */
export function buildRequest(more: Partial<PlaceRequest> = {}): PlaceRequest {
  return {
    binding: "hold",
    gang: null,
    spot: false,
    tenantId: "t-a",
    devices: [{ class: "gpu", count: 1 }],
    topology: "any",
    resources: NO_SCALARS,
    start: 0,
    end: 10,
    ...more,
  };
}
