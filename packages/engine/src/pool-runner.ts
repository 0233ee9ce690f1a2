/**
 * One pool in one process: commands queue, a batch of them is planned in memory at the newest state, and
 * one gated write decides. A lost race plans again; nothing is held while the database is asked.
 */
import type { ApplyOutcome, Failpoint, KeyClaim, PoolStore } from "@berth/db";
import type { GateId, Result } from "@berth/domain";
import { type Random, keyOf } from "./batch-turn.ts";
import type { Heartbeat } from "./beat.ts";
import {
  Cancelled,
  Elsewhere,
  Fenced,
  GateExists,
  KeyTaken,
  NoSuchGate,
  Overloaded,
  Unavailable,
} from "./errors.ts";
import { passPlanned, passTaken, passing } from "./failpoints.ts";
import { FairQueue } from "./fair-queue.ts";
import { type Pending, type Plan, planBatch } from "./planner.ts";
import { PoolCache, type View } from "./pool-cache.ts";
import type { Scheduler } from "./scheduler.ts";
import type {
  BatchFacts,
  Command,
  Committed,
  EngineLog,
  EngineObserver,
  EngineOptions,
} from "./types.ts";

export interface RunnerContext {
  readonly store: PoolStore;
  readonly random: Random;
  readonly log: EngineLog;
  readonly observer: EngineObserver;
  readonly options: EngineOptions;
  readonly heartbeat: Heartbeat;
  /** Milliseconds of a clock that only ever goes forward. */
  readonly elapsed: () => number;
  readonly scheduler: Scheduler;
  readonly failpoint?: Failpoint | undefined;
  /** Told of every batch of this process that the database has taken. */
  written(gateId: GateId): void;
}

/** The commands that the running batch has to answer. */
interface Round {
  todo: readonly Pending[];
}

/** Races lost before the next one waits a random while, and before the pool's lock is taken. */
const LOSSES_BEFORE_JITTER = 3;
const LOSSES_BEFORE_LOCK = 8;
const JITTER_MS = 50;
const TRANSIENT_RETRIES = 6;
const AGAIN_MAX_MS = 800;

export class PoolRunner {
  readonly cache: PoolCache;
  readonly #gateId: GateId;
  readonly #context: RunnerContext;
  readonly #queue: FairQueue<Pending>;
  /** Keys that are spent, until a batch was written that knows it. */
  readonly #spent = new Map<string, KeyClaim>();
  #freed = false;
  #writtenSeq = 0;
  #draining: Promise<void> | null = null;

  constructor(gateId: GateId, context: RunnerContext) {
    this.#gateId = gateId;
    this.#context = context;
    this.#queue = new FairQueue(context.options.queueMax);
    this.cache = new PoolCache(gateId, context.store, () => context.heartbeat.beat());
  }

  /** The newest sequence that a batch of this process made. */
  get writtenSeq(): number {
    return this.#writtenSeq;
  }

  /** Something was freed outside of a batch: the next one tries those who lack room. */
  markFreed(): void {
    this.#freed = true;
  }

  /** Decides the command in one of the pool's next batches. */
  submit<T>(command: Command<T>): Promise<Committed<Result<T>>> {
    return new Promise((resolve, reject) => {
      const pending: Pending = {
        tenantId: command.tenantId,
        command,
        deadline: this.#context.elapsed() + this.#context.options.deadlineMs,
        settle: (decided) => resolve(decided as Committed<Result<T>>),
        fail: reject,
      };
      this.#queue.push(pending)?.fail(new Overloaded());
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when nothing waits or runs. */
  async idle(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  async #drain(): Promise<void> {
    try {
      // Wishes made in the same tick share the batch.
      await Promise.resolve();
      while (this.#queue.size > 0)
        await this.#decide(this.#queue.take(this.#context.options.batchMax));
    } finally {
      this.#draining = null;
    }
  }

  /** Decides a batch; whatever happens, every one of its commands is answered or put back. */
  async #decide(taken: readonly Pending[]): Promise<void> {
    const { failpoint } = this.#context;
    const round: Round = { todo: taken };
    try {
      if (failpoint) await failpoint("queue.drained");
      await this.#decideOrThrow(round);
    } catch (error) {
      await this.#afterFailure(round.todo, error);
    }
  }

  /** A batch that the database refuses is halved: the culprit ends up alone, its neighbours are decided. */
  async #afterFailure(todo: readonly Pending[], error: unknown): Promise<void> {
    const { store, observer, log } = this.#context;
    const failure = store.failureOf(error);
    if (failure.kind === "violation") {
      const { sqlState } = failure;
      observer.violation?.(sqlState);
      log.error({ gateId: this.#gateId, sqlState }, "the database refused a planned batch");
      this.cache.drop();
      if (todo.length > 1) return this.#halve(todo);
    }
    for (const pending of todo) pending.fail(asError(error));
  }

  async #halve(todo: readonly Pending[]): Promise<void> {
    const middle = Math.ceil(todo.length / 2);
    await this.#decide(todo.slice(0, middle));
    await this.#decide(todo.slice(middle));
  }

  async #decideOrThrow(round: Round): Promise<void> {
    const { failpoint } = this.#context;
    round.todo = this.#stillWanted(round.todo);
    let losses = 0;
    let transients = 0;
    while (round.todo.length > 0) {
      try {
        const view = await this.#view(round.todo);
        const plan = this.#planRound(view, round);
        if (failpoint) await passPlanned(failpoint, plan);
        const outcome = await this.#write(plan);
        transients = 0;
        if (outcome.ok) return await this.#taken(plan, outcome.seq);
        if (isOneCommands(outcome) && round.todo.length > 1) return await this.#halve(round.todo);
        round.todo = this.#afterRefusal(outcome, round.todo);
        losses += 1;
        if (outcome.kind === "stale" || outcome.kind === "behind") {
          this.#context.observer.gateLost?.();
          if (losses >= LOSSES_BEFORE_LOCK) return await this.#decideLocked(round);
          if (losses >= LOSSES_BEFORE_JITTER) await this.#jitter(JITTER_MS);
        }
      } catch (error) {
        if (this.#context.store.failureOf(error).kind !== "transient") throw error;
        transients += 1;
        if (transients > TRANSIENT_RETRIES)
          throw new Unavailable("the database cannot be reached; try again shortly", error);
        await this.#jitter(againIn(transients));
        round.todo = this.#stillWanted(round.todo);
      }
    }
  }

  /** Plans the round; what does not go into this batch is back in the queue, and no longer the round's. */
  #planRound(view: View, round: Round): Plan {
    const { heartbeat } = this.#context;
    const context = {
      ...this.#context,
      gateId: this.#gateId,
      isServing: (serverId: string) => heartbeat.isServing(serverId),
    };
    const carried = { spent: this.#spent, freed: this.#freed };
    const plan = planBatch(context, view, { todo: this.#stillWanted(round.todo), carried });
    this.#queue.putBack(plan.left);
    round.todo = plan.answers.map(({ pending }) => pending);
    return plan;
  }

  async #taken(plan: Plan, seq: number): Promise<void> {
    const { failpoint } = this.#context;
    this.#spent.clear();
    if (plan.carried.freed) this.#freed = false;
    if (plan.batch) {
      this.cache.commit(plan.view, seq, plan.batch);
      this.#writtenSeq = Math.max(this.#writtenSeq, seq);
      this.#context.written(this.#gateId);
    }
    const { tries, degraded, healed } = plan.healing;
    if (tries + degraded + healed > 0) this.#context.observer.healed?.(plan.healing);
    if (plan.noticed > 0) this.#context.observer.noticed?.(plan.noticed);
    if (failpoint) await passTaken(failpoint, plan);
    for (const { pending, result, filed } of plan.answers)
      pending.settle({ value: result, seq, now: plan.view.now, filed: filed && !!plan.batch });
  }

  /** The last resort: plans under the pool's own lock, so that nobody can come first. */
  async #decideLocked(round: Round): Promise<void> {
    const { store, observer, elapsed, failpoint } = this.#context;
    observer.lockedPlan?.();
    let started = elapsed();
    let sent: Plan | null = null;
    const planned = store.locked(this.#gateId, async (locked) => {
      observer.lockWait?.(elapsed() - started);
      const view = await this.cache.refresh(locked);
      if (!view) throw new NoSuchGate(this.#gateId);
      const plan = (sent = this.#planRound(view, round));
      if (failpoint) await passPlanned(failpoint, plan);
      started = elapsed();
      const { batch } = plan;
      const apply = batch && (() => locked.apply(view.seq, view.now, batch));
      const written = apply && (await passing(failpoint, apply));
      return { plan, outcome: written ?? { ok: true as const, seq: view.seq } };
    });
    const { plan, outcome } = await planned.catch(async (error: unknown) => {
      if (store.failureOf(error).kind !== "unknown" || !sent?.batch) throw error;
      return { plan: sent, outcome: await this.#resolve(sent) };
    });
    if (plan.batch) observer.batch?.(this.#facts(plan, outcome, elapsed() - started));
    if (outcome.ok) return this.#taken(plan, outcome.seq);
    if (isOneCommands(outcome) && round.todo.length > 1) return this.#halve(round.todo);
    // A key that was there already: the others come first in the next batch.
    this.#queue.putBack(this.#afterRefusal(outcome, round.todo));
  }

  async #view(todo: readonly Pending[]): Promise<View> {
    const { failpoint } = this.#context;
    const refreshed = await this.cache.refresh();
    if (failpoint) await failpoint("delta.read");
    const view = refreshed && (this.cache.newest(refreshed.now) ?? refreshed);
    if (view) return view;
    if (todo.some(({ command }) => command.create)) return this.cache.blank();
    throw new NoSuchGate(this.#gateId);
  }

  async #write(plan: Plan): Promise<ApplyOutcome> {
    const { batch } = plan;
    if (!batch) return { ok: true, seq: plan.view.seq };
    const { store, observer, elapsed, failpoint } = this.#context;
    const write = { gateId: this.#gateId, expectedSeq: plan.view.seq, batch };
    const started = elapsed();
    try {
      const outcome = await passing(failpoint, () => store.apply(write, plan.view.now));
      observer.batch?.(this.#facts(plan, outcome, elapsed() - started));
      return outcome;
    } catch (error) {
      if (store.failureOf(error).kind !== "unknown") throw error;
      return this.#resolve(plan);
    }
  }

  #facts(plan: Plan, outcome: ApplyOutcome, writeMs: number): BatchFacts {
    return {
      gateId: this.#gateId,
      size: plan.answers.length,
      planMs: plan.planMs,
      writeMs,
      outcome: outcome.ok ? "ok" : outcome.kind,
      commands: plan.answers.map(({ pending }) => pending.command),
    };
  }

  /** The connection was lost after the write was sent: ask the pool's history, under its lock. */
  async #resolve(plan: Plan): Promise<ApplyOutcome> {
    const { store, observer } = this.#context;
    const batchId = plan.batch?.id ?? "";
    for (let attempt = 0; ; attempt += 1) {
      try {
        const committed = await store.outcome(this.#gateId, batchId);
        observer.unknownOutcome?.(committed ? "committed" : "aborted");
        return committed
          ? { ok: true, seq: committed.seq }
          : { ok: false, kind: "stale", seq: plan.view.seq };
      } catch (error) {
        if (store.failureOf(error).kind !== "transient" || attempt >= TRANSIENT_RETRIES) {
          observer.unknownOutcome?.("unresolved");
          throw new Unavailable(
            "the connection was lost before the answer; ask again with the same key",
            error,
          );
        }
        await this.#jitter(againIn(attempt));
      }
    }
  }

  /** Answers those that the refusal settles; the others are to be planned again. */
  #afterRefusal(outcome: Exclude<ApplyOutcome, { ok: true }>, todo: readonly Pending[]): Pending[] {
    switch (outcome.kind) {
      case "stale":
      case "behind":
        return [...todo];
      case "exists":
        for (const pending of todo) pending.fail(new GateExists(this.#gateId));
        return [];
      case "elsewhere":
        for (const pending of todo) pending.fail(new Elsewhere(this.#gateId));
        return [];
      case "fenced":
        for (const pending of todo) pending.fail(new Fenced(outcome.unitIds));
        return [];
      case "keys": {
        const taken = new Map(outcome.keys.map((claim) => [keyOf(claim), claim]));
        // Not only newcomers have keys: those who wait with one of these are answered by what it made.
        for (const [key, claim] of taken) this.#spent.set(key, claim);
        return todo.filter((pending) => {
          const claim = pending.command.key && taken.get(keyOf(pending.command.key));
          if (claim) pending.fail(new KeyTaken(claim));
          return !claim;
        });
      }
    }
  }

  /** Drops those whose caller has gone or whose deadline has passed, before anything is planned for them. */
  #stillWanted(all: readonly Pending[]): Pending[] {
    const now = this.#context.elapsed();
    return all.filter((pending) => {
      if (pending.command.signal?.aborted) pending.fail(new Cancelled());
      else if (now > pending.deadline)
        pending.fail(new Unavailable("the pool did not get to this request in time; try again"));
      else return true;
      return false;
    });
  }

  async #jitter(most: number): Promise<void> {
    const [a = 0, b = 0] = this.#context.random(2);
    await this.#context.scheduler.delay(((a * 256 + b) / 65_536) * most);
  }
}

/** The most to wait before the next try: who asks is to know within 5 s that there is no answer. */
function againIn(tries: number): number {
  return Math.min(AGAIN_MAX_MS, JITTER_MS * 2 ** tries);
}

/** Refused for the sake of one command, and it is not said which. */
function isOneCommands({ kind }: Exclude<ApplyOutcome, { ok: true }>): boolean {
  return kind === "elsewhere" || kind === "fenced";
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
