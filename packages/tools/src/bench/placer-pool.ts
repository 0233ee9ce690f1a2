/** Seeded pools for the placer's bench: nodes of 8 linked GPUs, jobs of 1 to 8 GPUs now and to come. */
import type { Node, PoolConfig, PoolSnapshot, Reservation, Unit } from "@berth/domain";

export const HOUR = 3_600_000;
export const DAY: number = 24 * HOUR;
/** The instant at which the pools are looked at. */
export const NOW = 1_790_000_000_000;
/** So long after it, every node has one GPU booked for a day (when the pool has bookings to come). */
export const BUSY_DAY: number = 200 * DAY;

export interface PoolSize {
  readonly nodes: number;
  /** Percent of the GPUs with a running booking. */
  readonly full: number;
  /** Bookings to come. */
  readonly future: number;
}

/** How a node's 8 GPUs are shared out to jobs. */
const SPLITS = [[8], [4, 4], [4, 2, 1, 1], [2, 2, 2, 2], [1, 1, 1, 1, 2, 2]] as const;
const GPUS = 8;

/** A small generator of numbers in [0, 1) (mulberry32), the same on every machine. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function syntheticPool(size: PoolSize): PoolSnapshot {
  const random = randomFrom(size.nodes + size.full * 7 + size.future * 31);
  const nodes = Array.from({ length: size.nodes }, (_, n) => nodeOf(n));
  const reservations: Reservation[] = [];
  /** When the last booking so far of each GPU ends. */
  const lastEnd = nodes.map(() => Array.from({ length: GPUS }, () => NOW));
  const book = (
    n: number,
    gpus: readonly number[],
    window: { start: number; end: number },
  ): void => {
    const node = nodes[n] as Node;
    reservations.push(reservationOf(reservations.length, { node, gpus }, window));
    for (const gpu of gpus) (lastEnd[n] as number[])[gpu] = window.end;
  };
  nodes.forEach((_, n) => {
    for (const gpus of jobsOf(random)) {
      if (random() * 100 >= size.full) continue;
      book(n, gpus, { start: NOW - HOUR, end: NOW + Math.ceil(random() * 48) * HOUR });
    }
  });
  for (let booked = 0; booked < size.future - (size.future > 0 ? size.nodes : 0); booked += 1) {
    const n = Math.floor(random() * nodes.length);
    const jobs = jobsOf(random);
    const gpus = jobs[Math.floor(random() * jobs.length)] ?? [0];
    const free = Math.max(...gpus.map((gpu) => lastEnd[n]?.[gpu] ?? NOW));
    const start = free + Math.ceil(random() * 12) * HOUR;
    const end = start + Math.ceil(random() * 12) * HOUR;
    if (end < NOW + BUSY_DAY) book(n, gpus, { start, end });
  }
  if (size.future > 0) {
    const window = { start: NOW + BUSY_DAY, end: NOW + BUSY_DAY + DAY };
    nodes.forEach((_, n) => book(n, [Math.floor(random() * GPUS)], window));
    // Whoever wants a whole node then has to send somebody away.
    reservations.splice(
      -nodes.length,
      nodes.length,
      ...reservations.slice(-nodes.length).map(asSpot),
    );
  }
  const rest = { unitReservations: [], waiters: [] };
  return { gateId: CONFIG.id, config: CONFIG, nodes, reservations, ...rest };
}

/** Nodes whose 8 GPUs are cut into a 3g and two 2g each, half of the instances taken. */
export function migPool(size: Pick<PoolSize, "nodes">): PoolSnapshot {
  const random = randomFrom(size.nodes);
  const nodes = Array.from({ length: size.nodes }, (_, n) => cut(nodeOf(n)));
  const taken = nodes.flatMap((node, n) =>
    node.units.flatMap((_, unit) => (random() < 0.5 ? [{ node, n, unit }] : [])),
  );
  const reservations = taken.map(({ node, unit }, i) => ({
    ...reservationOf(i, { node, gpus: [unit] }, { start: NOW - HOUR, end: NOW + 48 * HOUR }),
    devices: [{ class: "gpu.mig" as const, count: 1 }],
  }));
  const config: PoolConfig = { ...CONFIG, sharing: "mig" };
  const rest = { unitReservations: [], waiters: [] };
  return { gateId: config.id, config, nodes, reservations, ...rest };
}

const INSTANCES = [
  { profile: "3g.40gb", placement: 4, memoryGiB: 40 },
  { profile: "2g.20gb", placement: 0, memoryGiB: 20 },
  { profile: "2g.20gb", placement: 2, memoryGiB: 20 },
] as const;

function cut(node: Node): Node {
  const units = node.units.flatMap((gpu) =>
    INSTANCES.map((instance, i): Unit => {
      const key = gpu.key * INSTANCES.length + i;
      const index = gpu.index * INSTANCES.length + i;
      const own = { id: `unit_${number(1_000_000 + key)}` as const, key, index };
      return { ...gpu, ...own, ...instance, class: "gpu.mig", parentUnitId: gpu.id };
    }),
  );
  return { ...node, units, gpus: node.units };
}

function asSpot(reservation: Reservation): Reservation {
  return { ...reservation, spot: true };
}

function jobsOf(random: () => number): number[][] {
  const split = SPLITS[Math.floor(random() * SPLITS.length)] ?? SPLITS[0];
  let next = 0;
  return split.map((count) => Array.from({ length: count }, () => next++));
}

const number = (n: number): string => String(n).padStart(26, "0");

function nodeOf(n: number): Node {
  const units = Array.from({ length: GPUS }, (_, index): Unit => {
    const key = n * GPUS + index;
    return {
      id: `unit_${number(key)}`,
      key,
      class: "gpu",
      index,
      model: "NVIDIA H100 80GB HBM3",
      profile: null,
      placement: null,
      gpuUuid: `GPU-${number(key)}`,
      memoryGiB: 80,
      nvlinkDomain: `nvl-${n}`,
      vfioGroup: null,
      pciAddress: null,
      parentUnitId: null,
      healthy: true,
      removed: false,
      migProfiles: null,
    };
  });
  return {
    id: `node_${number(n)}`,
    siteId: `site_${number(1)}`,
    ownerId: "owner",
    name: `node-${n}`,
    address: null,
    state: "ready",
    labels: { rack: `r${Math.floor(n / 16)}` },
    scalars: { vcpu: 128, memoryGiB: 2_048, hugepages1Gi: 0 },
    topologyGen: 1,
    version: 1,
    tenantOwned: false,
    maintenance: [],
    units,
    gpus: [],
  };
}

export function reservationOf(
  n: number,
  held: { readonly node: Node; readonly gpus: readonly number[] },
  window: { readonly start: number; readonly end: number },
): Reservation {
  const { node, gpus } = held;
  const unitIds = gpus.map((gpu) => (node.units[gpu] as Unit).id);
  const resources = { vcpu: 0, memoryGiB: 0, hugepages1Gi: 0 };
  return {
    id: `rsv_${number(n)}`,
    poolId: CONFIG.id,
    tenantId: `t-${n % 20}`,
    chargedTenantId: `t-${n % 20}`,
    projectId: null,
    state: window.start <= NOW ? "active" : "scheduled",
    binding: "hold",
    gang: null,
    node: null,
    spot: false,
    ...window,
    startedAt: window.start <= NOW ? window.start : null,
    preemption: null,
    degraded: null,
    pins: [],
    leaseSeconds: null,
    leaseExpiresAt: null,
    endingSoonAt: null,
    topology: "any",
    devices: [{ class: "gpu", count: gpus.length }],
    resources,
    members: [{ index: 0, nodeId: node.id, unitIds, resources }],
    endedAt: null,
    endReason: null,
    version: 1,
    createdBy: "bench",
    createdAt: NOW,
    updatedAt: NOW,
  };
}

const CONFIG: PoolConfig = {
  id: `pool_${number(1)}`,
  tenantId: "t-0",
  siteId: `site_${number(1)}`,
  siteKind: "custom",
  region: "bench",
  class: "metal-host",
  gpuModel: "NVIDIA H100 80GB HBM3",
  sharing: "exclusive",
  agent: "bcd",
  policy: {},
  providerAccountId: null,
  version: 1,
  archivedAt: null,
  createdBy: "bench",
  createdAt: NOW,
  updatedAt: NOW,
  offers: [],
  quotas: [],
};
