/**
 * The database in memory, for tests of the engine alone: the same contract as PostgreSQL's, constraints and
 * locks included, with faults on request. `calibration.test.ts` holds it against the real one.
 */
import type {
  ApplyOutcome,
  Beat,
  Delta,
  GateHead,
  GateWrite,
  KeyClaim,
  LockedGate,
  PoolStore,
  StoreFailure,
} from "@berth/db";
import {
  type GateId,
  type Node,
  type PoolSnapshot,
  type UnitId,
  invariant,
  isLive,
} from "@berth/domain";
import { elsewhere, fenced, keyText, violationOf } from "./memory-checks.ts";
import {
  type Gate,
  NOTHING_NEW,
  type Time,
  byId,
  inStoredOrder,
  newGate,
  recordOutage,
  writeBatch,
} from "./memory-gate.ts";

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

/** Told of every batch, with what the gate held before it. */
export interface Applied {
  readonly write: GateWrite;
  readonly now: number;
  readonly before: PoolSnapshot;
  readonly head: GateHead;
  /** The other half of a write of two gates. */
  readonly moved: boolean;
}

/** How a transaction under a gate's lock may end otherwise than by its work. */
export interface LockedEnds {
  /** Rejects when the connection is gone: the transaction is undone, the lock is free. */
  readonly lost?: Promise<never>;
  /** Between the work and COMMIT. */
  committing?(): Promise<void>;
}

export class MemoryStore implements PoolStore {
  readonly gates = new Map<GateId, Gate>();
  readonly keys = new Map<string, KeyClaim>();
  readonly removed = new Map<string, Node>();
  clock: number;
  /** The database's own clock: only a test moves it, so nothing is an outage unless it says so. */
  wall = 0;
  heldSince: number | null = null;
  readonly outages: { from: number; to: number }[] = [];
  readonly #beats = new Map<string, number>();
  readonly #unitKeys = new Map<UnitId, number>();
  readonly #locks = new Map<GateId, Promise<void>>();
  /** Keys that a transaction has claimed and not committed. */
  readonly #claiming = new Map<string, Promise<void>>();
  #last: { wall: number; now: number } | null = null;
  #acceptedAt: number | null = null;
  fault: () => Fault = () => "none";
  /** Writes that a lost connection left in a buffer; they arrive when the test lets them. */
  readonly stragglers: (() => void)[] = [];
  applied: (batch: Applied) => void = () => undefined;
  /** What the constraints refused: in a healthy run nothing. */
  readonly violations: string[] = [];

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
    return { head: this.#head(gateId, gate), snapshot: this.snapshot(gateId) };
  }

  /** What a load would read at this moment. */
  snapshot(gateId: GateId): PoolSnapshot {
    const gate = this.#gate(gateId);
    const reservations = [...gate.reservations.values()].map(({ row }) => row);
    const unitReservations = [...gate.unitReservations.values()].map(({ row }) => row);
    return {
      gateId,
      config: gate.config,
      nodes: byId([...gate.nodes.values()].map(({ node }) => node)),
      reservations: byId(reservations.filter(({ state }) => isLive(state))),
      unitReservations: byId(unitReservations.filter(({ endedAt }) => endedAt === null)),
      waiters: byId([...gate.waiters.values()].flatMap(({ waiter }) => waiter ?? [])),
    };
  }

  async delta(gateId: GateId, since: GateHead): Promise<Delta> {
    const gate = this.#gate(gateId);
    const head = this.#head(gateId, gate);
    if (gate.head.resetSeq > since.seq) return { head, reset: true, ...NOTHING_NEW };
    const newer = <T extends { seq: number }>(rows: ReadonlyMap<string, T>): T[] =>
      [...rows.values()].filter(({ seq }) => seq > since.seq);
    return {
      head,
      reset: false,
      config: gate.head.configSeq > since.seq ? gate.config : null,
      nodes: byId(newer(gate.nodes).map(({ node }) => node)),
      reservations: byId(newer(gate.reservations).map(({ row }) => row)),
      unitReservations: byId(newer(gate.unitReservations).map(({ row }) => row)),
      waiters: byId(
        [...gate.waiters].flatMap(([id, { waiter, seq }]) =>
          seq > since.seq ? [{ id, waiter }] : [],
        ),
      ),
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
    const outcome = await this.#entering([write], () => this.#applyNow(write, now));
    if (fault === "lost-after") throw new StoreError({ kind: "unknown" });
    return outcome;
  }

  applyPair(a: GateWrite, b: GateWrite, now: number): Promise<ApplyOutcome> {
    return this.#entering([a, b], () => {
      const refused =
        this.#refusal(a, now, "named") ??
        this.#refusal(b, now, "moved") ??
        this.#violation(a) ??
        this.#violation(b);
      if (refused) return refused;
      this.#write(a, now, true);
      return { ok: true, seq: this.#write(b, now, true) };
    });
  }

  outcome(gateId: GateId, batchId: string): Promise<{ seq: number } | null> {
    return this.#unlocked([gateId], () => {
      const gate = this.gates.get(gateId) ?? newGate();
      this.gates.set(gateId, gate);
      const seq = gate.history.get(batchId);
      if (seq !== undefined) return { seq };
      gate.head.seq += 1;
      return null;
    });
  }

  async locked<T>(
    gateId: GateId,
    work: (locked: LockedGate) => Promise<T>,
    { lost, committing }: LockedEnds = {},
  ): Promise<T> {
    const over = Promise.withResolvers<void>();
    await this.#unlocked([gateId], () => this.#locks.set(gateId, over.promise));
    const staged: { write: GateWrite; now: number }[] = [];
    const ends = <R>(running: Promise<R>): Promise<R> =>
      lost ? Promise.race([running, lost]) : running;
    try {
      const value = await ends(
        work({
          head: (id) => this.head(id),
          load: (id) => this.load(id),
          delta: (id, since) => this.delta(id, since),
          apply: async (expectedSeq, now, batch) => {
            const write = { gateId, expectedSeq, batch };
            await this.#noneClaimed(write);
            const refused = this.#refusal(write, now, "named") ?? this.#violation(write);
            if (refused) return refused;
            staged.push({ write, now });
            for (const claim of batch.keys) this.#claiming.set(keyText(claim), over.promise);
            return { ok: true, seq: expectedSeq + 1 };
          },
        }),
      );
      if (committing) await ends(committing());
      for (const { write, now } of staged) this.#write(write, now, false);
      return value;
    } finally {
      this.#locks.delete(gateId);
      for (const { write } of staged)
        for (const claim of write.batch.keys) this.#claiming.delete(keyText(claim));
      over.resolve();
    }
  }

  async stored(gateId: GateId): ReturnType<PoolStore["stored"]> {
    const gate = this.gates.get(gateId);
    if (!gate) return null;
    const { rollup, used } = gate;
    const head = this.#head(gateId, gate);
    return { head, snapshot: this.snapshot(gateId), rollup, used: [...used.values()] };
  }

  async due(limit: number = Infinity): ReturnType<PoolStore["due"]> {
    return [...this.gates]
      .flatMap(
        ([
          gateId,
          {
            head: { nextDueAt },
          },
        ]) =>
          nextDueAt !== null && nextDueAt <= this.clock
            ? [{ gateId, lateMs: this.clock - nextDueAt }]
            : [],
      )
      .toSorted((a, b) => b.lateMs - a.lateMs)
      .slice(0, limit);
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
    if (late) recordOutage(this.outages, { from: last.now, to: this.clock });
    this.#last = { wall: this.wall, now: this.clock };
    this.#beats.set(serverId, this.wall);
    return {
      wall: this.wall,
      heldSince: this.heldSince,
      outageMs: late ? this.clock - last.now : null,
      servers: [...this.#beats].filter(([, at]) => at > this.wall - 5_000).map(([id]) => id),
    };
  }

  async holdLeases(since: number = Infinity): Promise<void> {
    if (this.#acceptedAt === null || this.#acceptedAt < since) this.heldSince ??= this.clock;
  }

  /** An operator says that the clock is right: what was held back counts as an outage. */
  acceptClock(): void {
    if (this.heldSince === null) return;
    const to = Math.max(this.clock, this.heldSince + 1);
    recordOutage(this.outages, { from: this.heldSince, to });
    this.heldSince = null;
    this.#acceptedAt = this.wall;
  }

  /** Turns the product's clock by hand; whoever does is there, so that it is no outage. */
  turnClock(ms: number): void {
    this.clock += ms;
    if (this.#last) this.#last = { wall: this.wall, now: this.clock };
  }

  async pools(): Promise<GateId[]> {
    return [...this.gates.keys()].toSorted();
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
      outages: this.outages.filter(({ to }) => to > head.graceTo).map((outage) => ({ ...outage })),
      heldSince: this.heldSince,
      sinceBeatMs: this.#last ? this.wall - this.#last.wall : 0,
    };
  }

  /** Waits for those who hold one of the gates, then does it in one go. */
  async #unlocked<T>(gateIds: readonly GateId[], work: () => T): Promise<T> {
    for (;;) {
      const held = gateIds.flatMap((gateId) => this.#locks.get(gateId) ?? []);
      if (held.length === 0) return work();
      await Promise.all(held);
    }
  }

  async #entering<T>(writes: readonly GateWrite[], work: () => T): Promise<T> {
    await Promise.all(writes.map((write) => this.#noneClaimed(write)));
    return this.#unlocked(
      writes.map(({ gateId }) => gateId),
      work,
    );
  }

  /** Whoever inserts a key that another transaction has inserted waits for the end of that one. */
  async #noneClaimed({ batch }: GateWrite): Promise<void> {
    for (const claim of batch.keys) await this.#claiming.get(keyText(claim));
  }

  #applyNow(write: GateWrite, now: number): ApplyOutcome {
    const refused = this.#refusal(write, now, "named") ?? this.#violation(write);
    return refused ?? { ok: true, seq: this.#write(write, now, false) };
  }

  /** Why the gate writes nothing, in the order in which it looks. */
  #refusal(
    { gateId, expectedSeq, batch }: GateWrite,
    now: number,
    nodes: "named" | "moved",
  ): Exclude<ApplyOutcome, { ok: true }> | null {
    const gate = this.gates.get(gateId);
    const seq = gate?.head.seq ?? 0;
    const creates = batch.changes.some(({ kind, before }) => kind === "config" && before === null);
    if (creates && gate?.config) return { ok: false, kind: "exists" };
    if (seq !== expectedSeq) return { ok: false, kind: "stale", seq };
    const lastAt = gate?.head.lastAt ?? 0;
    const clock = Math.max(this.clock, lastAt);
    if (now < clock - 1_000 || now < lastAt) return { ok: false, kind: "behind", now: clock };
    if (nodes === "named" && elsewhere(this, gateId, batch))
      return { ok: false, kind: "elsewhere" };
    const unitIds = fenced(gate, batch);
    if (unitIds.length > 0) return { ok: false, kind: "fenced", unitIds };
    const keys = batch.keys.flatMap((claim) => this.keys.get(keyText(claim)) ?? []);
    return keys.length > 0 ? { ok: false, kind: "keys", keys } : null;
  }

  #violation({ gateId, batch }: GateWrite): null {
    const violation = violationOf(this.gates.get(gateId) ?? newGate(), batch);
    if (!violation) return null;
    this.violations.push(violation.what);
    throw new StoreError({ kind: "violation", sqlState: violation.sqlState });
  }

  #write(write: GateWrite, now: number, moved: boolean): number {
    const { gateId, batch } = write;
    const gate = this.gates.get(gateId) ?? newGate();
    this.gates.set(gateId, gate);
    const before = this.snapshot(gateId);
    const head = this.#head(gateId, gate);
    for (const claim of batch.keys) this.keys.set(keyText(claim), claim);
    for (const change of batch.changes) {
      if (change.kind !== "node") continue;
      if (change.after) this.removed.delete(change.after.id);
      else if (change.before) this.removed.set(change.before.id, change.before);
    }
    const seq = writeBatch(gate, batch, { now, stored: (node) => this.#stored(node) });
    this.applied({ write, now, before, head, moved });
    return seq;
  }

  /** Units have their number from their first sight on. */
  #stored(node: Node): Node {
    const keyed = (units: Node["units"]): Node["units"] =>
      units.map((unit) => {
        const key = this.#unitKeys.get(unit.id) ?? (unit.key || this.#unitKeys.size + 1);
        this.#unitKeys.set(unit.id, key);
        return unit.key === key ? unit : { ...unit, key };
      });
    return inStoredOrder({ ...node, units: keyed(node.units), gpus: keyed(node.gpus) });
  }
}
