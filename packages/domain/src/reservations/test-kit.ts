/** A turn that keeps what rules do to it, and a small exclusive pool to do it to. For tests only. */
import {
  type DeriveId,
  type Id,
  type IdPrefix,
  type NodeId,
  type UnitId,
  freshId,
} from "../ids.ts";
import {
  type Node,
  NO_SCALARS,
  type PoolConfig,
  type PoolSnapshot,
  type Reservation,
  type Unit,
} from "../model.ts";
import type { Refusal, Result } from "../refusal.ts";
import { PoolState } from "../state/pool-state.ts";
import { type Change, type DomainEvent, type Turn, frees } from "../turn.ts";
import { applyDue } from "./due.ts";
import type { BookingShape } from "./request.ts";

/** A whole UTC hour. */
export const NOW = 1_800_000_000_000;
export const MINUTE = 60_000;
export const HOUR: number = 60 * MINUTE;

/** Not a hash, but as good as one here: equal parts, equal id. */
export const derive: DeriveId = (prefix, tag, parts) =>
  `${prefix}_${JSON.stringify([tag, ...parts])}`;

export class TestTurn implements Turn {
  readonly state: PoolState;
  readonly derive: DeriveId = derive;
  now: number;
  readonly changes: Change[] = [];
  readonly events: Omit<DomainEvent, "id" | "at" | "reservationId">[] = [];
  /** Servers whose waiters have nobody to tell. */
  readonly gone: Set<string> = new Set<string>();
  #freed = false;
  #ids = 0;

  constructor(state: PoolState, now: number = NOW) {
    this.state = state;
    this.now = now;
  }

  apply(change: Change): void {
    this.state.apply(change);
    this.changes.push(change);
    if (frees(change)) this.#freed = true;
  }

  takeFreed(): boolean {
    const freed = this.#freed;
    this.#freed = false;
    return freed;
  }

  isServing(serverId: string): boolean {
    return !this.gone.has(serverId);
  }

  emit(event: Parameters<Turn["emit"]>[0]): void {
    this.events.push(event);
  }

  freshId<P extends IdPrefix>(prefix: P): Id<P> {
    this.#ids += 1;
    const random = new Uint8Array(10);
    random[8] = this.#ids >> 8;
    random[9] = this.#ids & 255;
    return freshId(prefix, this.now, random);
  }

  /** Time passes, and what it does to the pool is done. */
  moveTo(now: number): void {
    this.now = now;
    applyDue(this);
  }

  /** The types of the events since the last time this was asked. */
  takeEvents(): string[] {
    return this.events.splice(0).map((event) => event.type);
  }
}

export function gpuPool(
  nodes: number,
  gpus: number,
  given: Partial<PoolConfig> = {},
): PoolSnapshot {
  const config = poolConfig(given);
  return {
    gateId: config.id,
    config,
    nodes: Array.from({ length: nodes }, (_, n) => gpuNode(n, gpus)),
    reservations: [],
    unitReservations: [],
    waiters: [],
  };
}

export function turnOn(snapshot: PoolSnapshot, now: number = NOW): TestTurn {
  return new TestTurn(PoolState.load(snapshot), now);
}

export function poolConfig(given: Partial<PoolConfig> = {}): PoolConfig {
  const guests = ["t-a", "t-b", "t-c"];
  return {
    id: "pool_00000000000000000000000000",
    tenantId: "t-own",
    siteId: "site_00000000000000000000000000",
    siteKind: "custom",
    region: "eu",
    class: "metal-host",
    gpuModel: null,
    sharing: "exclusive",
    agent: "bcd",
    policy: {},
    providerAccountId: null,
    version: 1,
    archivedAt: null,
    createdBy: "t-own/admin",
    createdAt: NOW,
    updatedAt: NOW,
    offers: guests.map((tenantId) => ({ tenantId, includeDescendants: false, priority: 0 })),
    quotas: guests.map((tenantId) => ({ tenantId, resource: "gpu", max: 1_000 })),
    ...given,
  };
}

export function gpuNode(n: number, gpus: number, given: Partial<Node> = {}): Node {
  return {
    id: nodeId(n),
    siteId: "site_00000000000000000000000000",
    ownerId: "t-own",
    name: `n${n}`,
    address: null,
    state: "ready",
    labels: {},
    scalars: { vcpu: 64, memoryGiB: 512, hugepages1Gi: 0 },
    topologyGen: 1,
    version: 1,
    tenantOwned: false,
    maintenance: [],
    units: Array.from({ length: gpus }, (_, at) => gpu(n, at)),
    gpus: [],
    ...given,
  };
}

export const nodeId = (n: number): NodeId => `node_${String(n).padStart(26, "0")}`;
export const unitId = (n: number, at: number): UnitId =>
  `unit_${String(n * 100 + at).padStart(26, "0")}`;

function gpu(n: number, at: number): Unit {
  return {
    id: unitId(n, at),
    key: n * 100 + at + 1,
    class: "gpu",
    index: at,
    model: null,
    profile: null,
    placement: null,
    gpuUuid: `gpu-${n}-${at}`,
    memoryGiB: 80,
    nvlinkDomain: null,
    vfioGroup: null,
    pciAddress: null,
    parentUnitId: null,
    healthy: true,
    removed: false,
    migProfiles: null,
  };
}

/** A live booking of the first GPUs of a node, as create would have made it. */
export function booking(
  given: Partial<Reservation> & { gpus?: number; onNode?: number },
): Reservation {
  const { gpus = 1, onNode = 0, ...parts } = given;
  const { start = NOW, end = NOW + HOUR } = parts;
  return {
    id: "rsv_00000000000000000000000000",
    poolId: "pool_00000000000000000000000000",
    tenantId: "t-a",
    chargedTenantId: parts.tenantId ?? "t-a",
    projectId: null,
    state: start > NOW ? "scheduled" : "active",
    binding: "hold",
    gang: null,
    node: null,
    spot: false,
    start,
    end,
    startedAt: start > NOW ? null : start,
    preemption: null,
    degraded: null,
    pins: [],
    leaseSeconds: null,
    leaseExpiresAt: null,
    endingSoonAt: null,
    topology: "any",
    devices: [{ class: "gpu", count: gpus }],
    resources: NO_SCALARS,
    members: [
      {
        index: 0,
        nodeId: nodeId(onNode),
        unitIds: Array.from({ length: gpus }, (_, at) => unitId(onNode, at)),
        resources: NO_SCALARS,
      },
    ],
    endedAt: null,
    endReason: null,
    version: 1,
    createdBy: "t-a/ci",
    createdAt: NOW,
    updatedAt: NOW,
    ...parts,
  };
}

export function gpus(count: number, given: Partial<BookingShape> = {}): BookingShape {
  return {
    binding: "hold",
    gang: null,
    node: null,
    spot: false,
    devices: [{ class: "gpu", count }],
    topology: "any",
    resources: NO_SCALARS,
    start: null,
    durationMs: HOUR,
    ...given,
  };
}

/** The value, or a failed test that shows the refusal. */
export function accepted<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.refusal)}`);
  return result.value;
}

export function refused(result: Result<unknown>): Refusal {
  if (result.ok) throw new Error("it was accepted");
  return result.refusal;
}
