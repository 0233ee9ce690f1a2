/**
 * The gate in memory, for tests of the engine alone: the same contract as the database's, with faults on
 * request. It keeps rows, not an engine's state, so an engine cannot be right by accident.
 */
import type {
  ApplyOutcome,
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
  type PoolConfig,
  type PoolSnapshot,
  type Reservation,
  type RollupRow,
  invariant,
  isLive,
} from "@berth/domain";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Gate {
  head: Mutable<Omit<GateHead, "now" | "gateId">>;
  config: PoolConfig | null;
  nodes: Map<string, { node: Node; seq: number }>;
  reservations: Map<string, { row: Reservation; seq: number }>;
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
    const snapshot = {
      gateId,
      config: gate.config,
      nodes: [...gate.nodes.values()].map(({ node }) => node),
      reservations: reservations.filter(({ state }) => isLive(state)),
    };
    return { head: this.#head(gateId, gate), snapshot };
  }

  async delta(gateId: GateId, since: GateHead): Promise<Delta> {
    const gate = this.#gate(gateId);
    return {
      head: this.#head(gateId, gate),
      reset: gate.head.resetSeq > since.seq,
      config: gate.head.configSeq > since.seq ? gate.config : null,
      nodes: [...gate.nodes.values()].filter(({ seq }) => seq > since.seq).map(({ node }) => node),
      reservations: [...gate.reservations.values()]
        .filter(({ seq }) => seq > since.seq)
        .map(({ row }) => row),
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
    return gateIds.filter((gateId) => due.has(gateId));
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
    return { gateId, ...gate.head, now: Math.max(this.clock, gate.head.lastAt) };
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
    }
    gate.rollup = batch.rollup;
    for (const row of batch.quotaUsed) gate.used.set(`${row.tenantId} ${row.resource}`, row);
    for (const event of batch.events) gate.events.push({ seq, event });
    gate.history.set(batch.id, seq);
    gate.head.lastAt = now;
    gate.head.nextDueAt = batch.nextDueAt;
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
    head: { seq: 0, lastAt: 0, configSeq: 0, fleetSeq: 0, resetSeq: 0, nextDueAt: null },
    config: null,
    nodes: new Map(),
    reservations: new Map(),
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
