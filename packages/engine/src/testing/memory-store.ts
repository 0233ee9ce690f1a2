/**
 * The gate in memory, for tests of the engine alone: the same contract as the database's, with faults on
 * request. It keeps rows, not an engine's state, so an engine cannot be right by accident.
 */
import type {
  ApplyOutcome,
  Beat,
  Delta,
  GateBatch,
  GateHead,
  GateWrite,
  KeyClaim,
  PoolStore,
  StoreFailure,
} from "@berth/db";
import {
  type DomainEvent,
  type GateId,
  type Node,
  type Outage,
  type PoolConfig,
  type PoolSnapshot,
  type Reservation,
  type RollupRow,
  type UnitReservation,
  type Waiter,
  invariant,
  isLive,
} from "@berth/domain";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What a head tells of the whole database. */
type Time = Pick<GateHead, "outages" | "heldSince" | "sinceBeatMs">;

interface Gate {
  head: Mutable<Omit<GateHead, "now" | "gateId" | keyof Time>>;
  config: PoolConfig | null;
  nodes: Map<string, { node: Node; seq: number }>;
  reservations: Map<string, { row: Reservation; seq: number }>;
  unitReservations: Map<string, { row: UnitReservation; seq: number }>;
  waiters: Map<Waiter["id"], { waiter: Waiter | null; seq: number }>;
  rollup: readonly RollupRow[];
  used: Map<string, GateBatch["quotaUsed"][number]>;
  history: Map<string, number>;
  events: { seq: number; event: DomainEvent }[];
}

/** What may go wrong with a write; each is drawn anew for every one. */
export type Fault = "none" | "transient" | "lost-before" | "lost-after" | "straggler";

/** An error that says what it means. */
export class StoreError extends Error {
  readonly failure: StoreFailure;
  constructor(failure: StoreFailure) {
    super(`the store failed: ${failure.kind}`);
    this.failure = failure;
  }
}

export class MemoryStore implements PoolStore {
  readonly gates = new Map<GateId, Gate>();
  readonly keys = new Map<string, KeyClaim>();
  clock: number;
  /** The database's own clock: only a test moves it, so nothing is an outage unless it says so. */
  wall = 0;
  heldSince: number | null = null;
  readonly outages: Outage[] = [];
  readonly #beats = new Map<string, number>();
  #last: { wall: number; now: number } | null = null;
  fault: () => Fault = () => "none";
  /** Writes that a lost connection left in a buffer; they arrive when the test lets them. */
  readonly stragglers: (() => void)[] = [];

  constructor(clock: number) {
    this.clock = clock;
  }

  failureOf(error: unknown): StoreFailure {
    return error instanceof StoreError ? error.failure : { kind: "other" };
  }

  async now(): Promise<number> {
    return this.clock;
  }

  async head(gateId: GateId): Promise<GateHead | null> {
    const gate = this.gates.get(gateId);
    return gate ? this.#head(gateId, gate) : null;
  }

  async load(gateId: GateId): Promise<{ head: GateHead; snapshot: PoolSnapshot } | null> {
    const gate = this.gates.get(gateId);
    if (!gate) return null;
    const reservations = [...gate.reservations.values()].map(({ row }) => row);
    const unitReservations = [...gate.unitReservations.values()].map(({ row }) => row);
    const snapshot = {
      gateId,
      config: gate.config,
      nodes: [...gate.nodes.values()].map(({ node }) => node),
      reservations: reservations.filter(({ state }) => isLive(state)),
      unitReservations: unitReservations.filter(({ endedAt }) => endedAt === null),
      waiters: [...gate.waiters.values()].flatMap(({ waiter }) => waiter ?? []),
    };
    return { head: this.#head(gateId, gate), snapshot };
  }

  async delta(gateId: GateId, since: GateHead): Promise<Delta> {
    const gate = this.#gate(gateId);
    const newer = <T extends { seq: number }>(rows: ReadonlyMap<string, T>): T[] =>
      [...rows.values()].filter(({ seq }) => seq > since.seq);
    return {
      head: this.#head(gateId, gate),
      reset: gate.head.resetSeq > since.seq,
      config: gate.head.configSeq > since.seq ? gate.config : null,
      nodes: newer(gate.nodes).map(({ node }) => node),
      reservations: newer(gate.reservations).map(({ row }) => row),
      unitReservations: newer(gate.unitReservations).map(({ row }) => row),
      waiters: [...gate.waiters]
        .filter(([, { seq }]) => seq > since.seq)
        .map(([id, { waiter }]) => ({ id, waiter })),
    };
  }

  async apply(write: GateWrite, now: number): Promise<ApplyOutcome> {
    await Promise.resolve();
    const fault = this.fault();
    if (fault === "transient") throw new StoreError({ kind: "transient" });
    if (fault === "lost-before") throw new StoreError({ kind: "unknown" });
    if (fault === "straggler") {
      this.stragglers.push(() => this.#applyNow(write, now));
      throw new StoreError({ kind: "unknown" });
    }
    const outcome = this.#applyNow(write, now);
    if (fault === "lost-after") throw new StoreError({ kind: "unknown" });
    return outcome;
  }

  async applyPair(): Promise<ApplyOutcome> {
    throw new Error("moves are tested on PostgreSQL");
  }

  async outcome(gateId: GateId, batchId: string): Promise<{ seq: number } | null> {
    const gate = this.gates.get(gateId);
    if (!gate) return null;
    const seq = gate.history.get(batchId);
    if (seq !== undefined) return { seq };
    gate.head.seq += 1;
    return null;
  }

  async locked<T>(
    gateId: GateId,
    work: (locked: Parameters<Parameters<PoolStore["locked"]>[1]>[0]) => Promise<T>,
  ): Promise<T> {
    return work({
      head: (id) => this.head(id),
      load: (id) => this.load(id),
      delta: (id, since) => this.delta(id, since),
      apply: async (expectedSeq, now, batch) => this.#applyNow({ gateId, expectedSeq, batch }, now),
    });
  }

  async stored(gateId: GateId): ReturnType<PoolStore["stored"]> {
    const loaded = await this.load(gateId);
    const gate = this.#gate(gateId);
    return loaded && { ...loaded, rollup: gate.rollup, used: [...gate.used.values()] };
  }

  async due(): ReturnType<PoolStore["due"]> {
    return [...this.gates]
      .filter(([, { head }]) => head.nextDueAt !== null && head.nextDueAt <= this.clock)
      .map(([gateId, { head }]) => ({ gateId, lateMs: this.clock - (head.nextDueAt ?? 0) }));
  }

  async dueAmong(gateIds: readonly GateId[]): Promise<GateId[]> {
    const due = new Set((await this.due()).map(({ gateId }) => gateId));
    const pending = (gateId: GateId): boolean => {
      const gate = this.gates.get(gateId);
      return gate !== undefined && this.#time(gate).outages.length > 0;
    };
    return gateIds.filter((gateId) => due.has(gateId) || pending(gateId));
  }

  async beat(serverId: string): Promise<Beat> {
    const last = this.#last;
    const late = last !== null && this.wall - last.wall > 3_000 && this.clock > last.now;
    if (late) this.outages.push({ from: last.now, to: this.clock });
    this.#last = { wall: this.wall, now: this.clock };
    this.#beats.set(serverId, this.wall);
    return {
      wall: this.wall,
      heldSince: this.heldSince,
      outageMs: late ? this.clock - last.now : null,
      servers: [...this.#beats].filter(([, at]) => at > this.wall - 5_000).map(([id]) => id),
    };
  }

  async holdLeases(): Promise<void> {
    this.heldSince ??= this.clock;
  }

  async pools(): Promise<GateId[]> {
    return [...this.gates.keys()];
  }

  #gate(gateId: GateId): Gate {
    const gate = this.gates.get(gateId);
    invariant(gate, `no gate ${gateId}`);
    return gate;
  }

  #head(gateId: GateId, gate: Gate): GateHead {
    const now = Math.max(this.clock, gate.head.lastAt);
    return { gateId, ...gate.head, now, ...this.#time(gate) };
  }

  #time({ head }: Gate): Time {
    return {
      outages: this.outages.filter(({ to }) => to > head.graceTo),
      heldSince: this.heldSince,
      sinceBeatMs: this.#last ? this.wall - this.#last.wall : 0,
    };
  }

  #applyNow({ gateId, expectedSeq, batch }: GateWrite, now: number): ApplyOutcome {
    const gate = this.gates.get(gateId) ?? newGate();
    if (gate.head.seq !== expectedSeq) return { ok: false, kind: "stale", seq: gate.head.seq };
    const taken = batch.keys.flatMap((claim) => this.keys.get(keyOf(claim)) ?? []);
    if (taken.length > 0) return { ok: false, kind: "keys", keys: taken };
    this.gates.set(gateId, gate);
    gate.head.seq += 1;
    const { seq } = gate.head;
    for (const claim of batch.keys) this.keys.set(keyOf(claim), claim);
    for (const change of batch.changes) {
      if (change.kind === "reservation")
        gate.reservations.set(change.after.id, { row: change.after, seq });
      if (change.kind === "config") {
        gate.config = change.after;
        gate.head.configSeq = seq;
      }
      if (change.kind === "node") this.#applyNode(gate, change, seq);
      if (change.kind === "unitReservation" && change.after)
        gate.unitReservations.set(change.after.id, { row: change.after, seq });
      if (change.kind === "waiter") {
        const id = (change.after ?? change.before)?.id;
        if (id) gate.waiters.set(id, { waiter: change.after, seq });
      }
    }
    gate.rollup = batch.rollup;
    for (const row of batch.quotaUsed) gate.used.set(`${row.tenantId} ${row.resource}`, row);
    for (const event of batch.events) gate.events.push({ seq, event });
    gate.history.set(batch.id, seq);
    gate.head.lastAt = now;
    gate.head.nextDueAt = batch.nextDueAt;
    gate.head.graceTo = Math.max(gate.head.graceTo, batch.graceTo ?? 0);
    return { ok: true, seq };
  }

  #applyNode(
    gate: Gate,
    { before, after }: { before: Node | null; after: Node | null },
    seq: number,
  ): void {
    gate.head.fleetSeq = seq;
    if (after) {
      gate.nodes.set(after.id, { node: after, seq });
    } else if (before) {
      gate.nodes.delete(before.id);
      gate.head.resetSeq = seq;
    }
  }
}

function newGate(): Gate {
  return {
    head: {
      seq: 0,
      lastAt: 0,
      configSeq: 0,
      fleetSeq: 0,
      resetSeq: 0,
      nextDueAt: null,
      graceTo: 0,
    },
    config: null,
    nodes: new Map(),
    reservations: new Map(),
    unitReservations: new Map(),
    waiters: new Map(),
    rollup: [],
    used: new Map(),
    history: new Map(),
    events: [],
  };
}

function keyOf({
  tenantId,
  principal,
  key,
}: Omit<KeyClaim, "reservationId" | "requestHash">): string {
  return JSON.stringify([tenantId, principal, key]);
}
