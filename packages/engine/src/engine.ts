/**
 * The booking engine of one process: a runner a pool, reads of committed states, and the worker that
 * applies what is due in pools that nobody asks about. Any number of processes run side by side on one
 * database; the gate orders them.
 */
import type { Failpoint, GateWrite, PoolStore } from "@berth/db";
import { type GateId, type Result, type Turn, freshId } from "@berth/domain";
import { BatchTurn, type Random } from "./batch-turn.ts";
import { Heartbeat } from "./beat.ts";
import { NoSuchGate, Unavailable } from "./errors.ts";
import { passing } from "./failpoints.ts";
import { Lifecycle, SETTLE } from "./lifecycle.ts";
import { type Correction, correct, differences } from "./rebuild.ts";
import { Mutex } from "./mutex.ts";
import { openTurn } from "./planner.ts";
import type { View } from "./pool-cache.ts";
import { PoolRunner, type RunnerContext } from "./pool-runner.ts";
import { type Scheduler, TIMERS } from "./scheduler.ts";
import {
  type Command,
  type Committed,
  DEFAULT_OPTIONS,
  type EngineLog,
  type EngineObserver,
  type EngineOptions,
  type Read,
} from "./types.ts";
import { type Wait, type Waited, Waits } from "./waits.ts";

export interface Engine {
  /** Names this process among the servers of the database: whose callers a waiter's are. */
  readonly serverId: string;
  /** Decides the command at the pool's newest state and writes what it did; see `errors.ts` for what it throws. */
  submit<T>(gateId: GateId, command: Command<T>): Promise<Committed<Result<T>>>;
  /**
   * Waits with a command that was answered by a waiter; the signal takes it away.
   * @throws Cancelled, Unavailable
   */
  wait(wait: Wait, signal?: AbortSignal): Promise<Waited>;
  /** How many callers wait here. */
  readonly waiting: number;
  /** Sends everybody away who waits here: the server is about to stop. */
  endWaits(): Promise<void>;
  /** Reads a committed state in which nothing is due; null when there is no such pool. */
  read<T>(gateId: GateId, read: Read<T>): Promise<Committed<T> | null>;
  /** Applies what is due in those of the pools that have something due. */
  settle(gateIds: readonly GateId[]): Promise<void>;
  /** Moves a node from one gate to another in one write: the only one that names two. */
  move<T>(move: Move<T>): Promise<Committed<Result<T>>>;
  /** Recounts the pool's capacity rows from its bookings and writes what differs: nothing, in a healthy system. */
  rebuild(gateId: GateId): Promise<Correction[]>;
  start(): void;
  /** Takes no new commands, lets the running ones finish. */
  stop(): Promise<void>;
}

export interface Move<T> {
  readonly from: GateId;
  readonly to: GateId;
  /** The target gate does not exist yet: a node that leaves its pool. */
  readonly create: boolean;
  plan(from: Turn, to: Turn): Result<T>;
}

export interface EngineDeps {
  readonly store: PoolStore;
  /** Cryptographically random bytes. */
  readonly random: Random;
  readonly log: EngineLog;
  /** Milliseconds of a monotonic clock, for deadlines and slices; never for bookings. */
  readonly elapsed: () => number;
  /** How it waits; the real timers unless a simulation says otherwise. */
  readonly scheduler?: Scheduler;
  readonly observer?: EngineObserver;
  readonly options?: Partial<EngineOptions>;
  /** For tests that break this process at a chosen place. */
  readonly failpoint?: Failpoint | undefined;
}

/** A read longer than this lets the event loop go on in between. */
const READ_SLICE_MS = 5;
/** Restarts of a sliced read before it runs through at one state. */
const READ_RESTARTS = 3;
const MOVE_ATTEMPTS = 16;
const MOVE_JITTER_MS = 10;
const SHUTTING_DOWN = "the server is shutting down; try again";

export function createEngine(deps: EngineDeps): Engine {
  return new BookingEngine(deps);
}

class BookingEngine implements Engine {
  readonly #context: RunnerContext;
  readonly #runners = new Map<GateId, PoolRunner>();
  readonly #lifecycle: Lifecycle;
  readonly #heartbeat: Heartbeat;
  readonly #waits: Waits;
  readonly #moving = new Mutex();
  #turns: Promise<void> = Promise.resolve();
  #stopping = false;

  constructor(deps: EngineDeps) {
    const options = { ...DEFAULT_OPTIONS, ...deps.options };
    const { log, elapsed, observer = {}, scheduler = TIMERS } = deps;
    this.#heartbeat = new Heartbeat({ ...deps, observer, scheduler, beatMs: options.beatMs });
    this.#waits = new Waits({
      log,
      elapsed,
      scheduler,
      failpoint: deps.failpoint,
      runner: (gateId) => this.#runner(gateId),
      settled: (gateId) => this.#settled(gateId),
    });
    this.#context = {
      ...deps,
      observer,
      scheduler,
      options,
      heartbeat: this.#heartbeat,
      written: (gateId) => this.#waits.written(gateId),
    };
    this.#lifecycle = new Lifecycle(this, this.#context);
  }

  get serverId(): string {
    return this.#heartbeat.serverId;
  }

  submit<T>(gateId: GateId, command: Command<T>): Promise<Committed<Result<T>>> {
    if (this.#stopping) return Promise.reject(new Unavailable(SHUTTING_DOWN));
    return this.#runner(gateId).submit(command);
  }

  wait(wait: Wait, signal?: AbortSignal): Promise<Waited> {
    return this.#waits.wait(wait, signal);
  }

  get waiting(): number {
    return this.#waits.size;
  }

  endWaits(): Promise<void> {
    return this.#waits.end();
  }

  async read<T>(gateId: GateId, read: Read<T>): Promise<Committed<T> | null> {
    for (let restarts = 0; ; restarts += 1) {
      const settled = await this.#settled(gateId);
      if (settled === null) return null;
      // Looked at in the same tick as it is read, so that state and sequence belong together.
      const view = this.#runner(gateId).cache.newest(settled.now);
      if (!view) continue;
      const through = restarts >= READ_RESTARTS;
      const value = await this.#slice(gateId, view, { read, through });
      if (value !== MOVED_ON) return { value: value as T, seq: view.seq, now: view.now };
    }
  }

  async settle(gateIds: readonly GateId[]): Promise<void> {
    if (gateIds.length === 0) return;
    const due = await this.#context.store.dueAmong(gateIds);
    await Promise.all(due.map((gateId) => this.submit(gateId, SETTLE)));
  }

  move<T>(move: Move<T>): Promise<Committed<Result<T>>> {
    if (this.#stopping) return Promise.reject(new Unavailable(SHUTTING_DOWN));
    // One at a time: moves of one process would only take each other's sequence away.
    return this.#moving.run(() => this.#move(move));
  }

  async #move<T>(move: Move<T>): Promise<Committed<Result<T>>> {
    const { failpoint } = this.#context;
    const [from, to] = [this.#runner(move.from), this.#runner(move.to)];
    for (let attempt = 0; attempt < MOVE_ATTEMPTS; attempt += 1) {
      const before = await from.cache.refresh();
      const entering = (await to.cache.refresh()) ?? (move.create ? await to.cache.blank() : null);
      // Once more: both are planned at one instant, so no outage may lie between the two looks.
      const leaving = await from.cache.refresh();
      if (!before || !leaving) throw new NoSuchGate(move.from);
      if (!entering) throw new NoSuchGate(move.to);
      if (lastOutage(before) !== lastOutage(leaving)) continue;
      if (!from.cache.isAt(leaving) || (entering.exists && !to.cache.isAt(entering))) continue;
      const planned = this.#planMove(move, leaving, entering);
      if (!planned.result.ok) return { value: planned.result, seq: entering.seq, now: planned.now };
      if (failpoint) await failpoint("place.done");
      const outcome = await this.#writeMove(planned);
      if (outcome) {
        if (failpoint) await failpoint("reply.before");
        for (const runner of [from, to]) this.#useMoved(runner);
        return { value: planned.result, seq: outcome.seq, now: planned.now };
      }
      const jitter = ((this.#context.random(1)[0] ?? 0) / 256) * MOVE_JITTER_MS;
      await this.#context.scheduler.delay(jitter * attempt);
    }
    throw new Unavailable("both pools are too busy; try again shortly");
  }

  /** A write of two gates claims no keys, so those who wait for what it freed are served by the next batch. */
  #useMoved(runner: PoolRunner): void {
    runner.markFreed();
    runner.submit(SETTLE).catch(() => undefined);
  }

  async rebuild(gateId: GateId): Promise<Correction[]> {
    await this.settle([gateId]);
    const stored = await this.#context.store.stored(gateId);
    if (!stored?.snapshot.config) return [];
    const corrections = differences(stored);
    if (corrections.length === 0) return [];
    for (const correction of corrections) {
      this.#context.observer.correction?.(gateId, correction);
      this.#context.log.error(
        { gateId, ...correction },
        "a stored count did not match its bookings",
      );
    }
    const runner = this.#runner(gateId);
    runner.cache.drop();
    await runner.submit({ name: "rebuild", tenantId: "", plan: correct(corrections) });
    return corrections;
  }

  start(): void {
    this.#heartbeat.start();
    this.#lifecycle.start();
  }

  async stop(): Promise<void> {
    await this.#waits.end();
    this.#stopping = true;
    await this.#lifecycle.stop();
    await Promise.all([...this.#runners.values()].map((runner) => runner.idle()));
    await this.#heartbeat.stop();
  }

  #runner(gateId: GateId): PoolRunner {
    const known = this.#runners.get(gateId);
    if (known) return known;
    const runner = new PoolRunner(gateId, this.#context);
    this.#runners.set(gateId, runner);
    return runner;
  }

  /** Sees to it that nothing is due in what this process holds; null when there is no such pool. */
  async #settled(gateId: GateId): Promise<View | null> {
    for (;;) {
      const view = await this.#runner(gateId).cache.refresh();
      if (!view) {
        this.#runners.delete(gateId);
        return null;
      }
      const dueAt = view.state.nextDueAt();
      const isDue = dueAt !== null && dueAt <= view.now;
      if (!isDue && view.clock.outages.length === 0) return view;
      await this.submit(gateId, SETTLE);
    }
  }

  async #slice<T>(
    gateId: GateId,
    view: View,
    { read, through }: { read: Read<T>; through: boolean },
  ): Promise<T | typeof MOVED_ON> {
    const { elapsed } = this.#context;
    const value = read(view.state, view.now);
    if (!isGenerator(value)) return value;
    const { cache } = this.#runner(gateId);
    let sliceStart = elapsed();
    for (;;) {
      const step = value.next();
      if (step.done) return step.value;
      if (through || elapsed() - sliceStart < READ_SLICE_MS) continue;
      await this.#turn();
      sliceStart = elapsed();
      if (!cache.isAt(view)) return MOVED_ON;
    }
  }

  /** However many long reads there are: one slice of one of them between two turns of everything else. */
  #turn(): Promise<void> {
    return (this.#turns = this.#turns.then(() => this.#context.scheduler.yield()));
  }

  #planMove<T>(move: Move<T>, leaving: View, entering: View): PlannedMove<T> {
    const { random } = this.#context;
    const now = Math.max(leaving.now, entering.now);
    const context = { random, isServing: (id: string) => this.#heartbeat.isServing(id) };
    const a = new BatchTurn({ ...leaving, now }, context);
    const b = new BatchTurn({ ...entering, now }, context);
    const starts = [a.checkpoint(), b.checkpoint()] as const;
    try {
      openTurn(a, leaving);
      openTurn(b, entering);
      const result = move.plan(a, b);
      const side = (gateId: GateId, view: View, turn: BatchTurn): GateWrite => ({
        gateId,
        expectedSeq: view.seq,
        batch: turn.finish(freshId("evt", now, random(10))),
      });
      return { result, now, from: side(move.from, leaving, a), to: side(move.to, entering, b) };
    } finally {
      a.rollback(starts[0]);
      b.rollback(starts[1]);
    }
  }

  async #writeMove<T>({ from, to, now }: PlannedMove<T>): Promise<{ seq: number } | null> {
    const { store, failpoint } = this.#context;
    try {
      const outcome = await passing(failpoint, () => store.applyPair(from, to, now));
      return outcome.ok ? { seq: outcome.seq } : null;
    } catch (error) {
      // Both sides are in one transaction, so the target's history speaks for both.
      const { kind } = store.failureOf(error);
      if (kind === "unknown") return this.#resolveMove(to);
      if (kind === "transient") return null;
      throw error;
    }
  }

  /** As a batch's, and counted as one. */
  async #resolveMove({ gateId, batch }: GateWrite): Promise<{ seq: number } | null> {
    const { store, observer } = this.#context;
    try {
      const committed = await store.outcome(gateId, batch.id);
      observer.unknownOutcome?.(committed ? "committed" : "aborted");
      return committed;
    } catch (error) {
      observer.unknownOutcome?.("unresolved");
      throw new Unavailable("the connection was lost before the answer; ask again", error);
    }
  }
}

interface PlannedMove<T> {
  readonly result: Result<T>;
  readonly now: number;
  readonly from: GateWrite;
  readonly to: GateWrite;
}

function lastOutage({ clock }: View): number | undefined {
  return clock.outages.at(-1)?.to;
}

/** The pool changed while a sliced read was paused. */
const MOVED_ON = Symbol("moved on");

function isGenerator<T>(value: T | Generator<unknown, T>): value is Generator<unknown, T> {
  return typeof value === "object" && value !== null && Symbol.iterator in value && "next" in value;
}
