/** A small pool and commands on it, for tests of the engine alone. */
import {
  type Asked,
  type CreateAsk,
  type Node,
  type NodeId,
  NO_SCALARS,
  type PoolConfig,
  type PoolId,
  type Reservation,
  type ReservationId,
  type Result,
  type Unit,
  type UnitId,
  type WaiterKey,
  createOrWait,
  createReservation,
  invariant,
  ok,
  releaseReservation,
} from "@berth/domain";
import type { Command } from "../types.ts";
import { MemoryStore } from "./memory-store.ts";

export const POOL: PoolId = "pool_00000000000000000000000000";
export const NOW = 1_800_000_000_000;
export const TENANTS = ["t-a", "t-b", "t-c"] as const;

function gpu(node: number, index: number): Unit {
  const id: UnitId = `unit_${String(node * 8 + index).padStart(26, "0")}`;
  return {
    id,
    key: node * 8 + index + 1,
    class: "gpu",
    index,
    model: "H100",
    profile: null,
    placement: null,
    gpuUuid: `gpu-${node}-${index}`,
    memoryGiB: 80,
    nvlinkDomain: "nvl0",
    vfioGroup: null,
    pciAddress: null,
    parentUnitId: null,
    healthy: true,
    removed: false,
    migProfiles: null,
  };
}

function machine(number: number, gpus: number): Node {
  const id: NodeId = `node_${String(number).padStart(26, "0")}`;
  return {
    id,
    siteId: "site_00000000000000000000000000",
    ownerId: "t-own",
    name: `n${number}`,
    address: null,
    state: "ready",
    labels: {},
    scalars: { vcpu: 64, memoryGiB: 512, hugepages1Gi: 0 },
    topologyGen: 1,
    version: 1,
    tenantOwned: false,
    maintenance: [],
    units: Array.from({ length: gpus }, (_, index) => gpu(number, index)),
    gpus: [],
  };
}

function config(quota: number): PoolConfig {
  return {
    id: POOL,
    tenantId: "t-own",
    siteId: "site_00000000000000000000000000",
    siteKind: "custom",
    region: "eu",
    class: "metal-host",
    gpuModel: "H100",
    sharing: "exclusive",
    agent: "bcd",
    policy: {},
    providerAccountId: null,
    version: 1,
    archivedAt: null,
    createdBy: "admin",
    createdAt: NOW,
    updatedAt: NOW,
    offers: TENANTS.map((tenantId) => ({ tenantId, includeDescendants: false, priority: 0 })),
    quotas: TENANTS.map((tenantId) => ({ tenantId, resource: "gpu", max: quota })),
  };
}

/** A store with one pool of `nodes` × `gpus`, each tenant with a gpu quota. */
export async function storeWithPool(
  nodes: number,
  gpus: number,
  quota = 1_000,
): Promise<MemoryStore> {
  const store = new MemoryStore(NOW);
  const fleet = Array.from({ length: nodes }, (_, number) => machine(number, gpus));
  const outcome = await store.apply(
    {
      gateId: POOL,
      expectedSeq: 0,
      batch: {
        id: "evt_setup",
        keys: [],
        changes: [
          { kind: "config", before: null, after: config(quota) },
          ...fleet.map((after) => ({ kind: "node" as const, before: null, after })),
        ],
        quotaUsed: [],
        rollup: [],
        events: [],
        nextDueAt: null,
      },
    },
    NOW,
  );
  invariant(outcome.ok, "the pool is made");
  return store;
}

export interface BookingWish {
  readonly tenantId: string;
  readonly key?: string;
  readonly gpus: number;
  /** Null is now. */
  readonly start?: number | null;
  readonly durationMs: number;
  readonly spot?: boolean;
  readonly leaseSeconds?: number;
  readonly signal?: AbortSignal;
}

export function book(wish: BookingWish): Command<Reservation> {
  const { tenantId, signal } = wish;
  const key = keyOf(wish);
  return {
    name: "create",
    tenantId,
    signal,
    key: key && { tenantId, ...key },
    plan: (turn) => createReservation(turn, askOf(wish)),
  };
}

/** Books, or waits on the connection of a server. */
export function bookOrWait(
  wish: BookingWish,
  { timeoutMs, serverId }: { readonly timeoutMs: number; readonly serverId: string },
): Command<Asked> {
  const { tenantId, signal } = wish;
  const key = keyOf(wish);
  return {
    name: "create",
    tenantId,
    signal,
    key: key && { tenantId, ...key },
    plan: (turn) => createOrWait(turn, askOf(wish), { timeoutMs, serverId, key: key ?? null }),
  };
}

function keyOf({ key, gpus, start = null, durationMs }: BookingWish): WaiterKey | undefined {
  if (key === undefined) return undefined;
  return { principal: "ci", key, requestHash: JSON.stringify([gpus, start, durationMs]) };
}

function askOf(wish: BookingWish): CreateAsk {
  const { tenantId, gpus, start = null, durationMs, spot = false, leaseSeconds = null } = wish;
  return {
    tenantId,
    ancestors: [],
    projectId: null,
    leaseSeconds,
    createdBy: "ci",
    shape: {
      binding: "hold",
      gang: null,
      node: null,
      spot,
      devices: [{ class: "gpu", count: gpus }],
      topology: "any",
      resources: NO_SCALARS,
      start,
      durationMs,
    },
  };
}

export function release(
  tenantId: string,
  reservationId: ReservationId,
): Command<Reservation | null> {
  return {
    name: "release",
    tenantId,
    plan: (turn): Result<Reservation | null> =>
      releaseReservation(turn, { tenantId, reservationId }),
  };
}

export const nothing: Command<null> = { name: "nothing", tenantId: "", plan: () => ok(null) };
