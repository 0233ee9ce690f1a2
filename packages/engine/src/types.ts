/** What callers hand the engine and what they get back. */
import type { AuditEntry, KeyClaim } from "@berth/db";
import type { GateId, PoolState, Result, TenantId, Turn } from "@berth/domain";
import type { BeatObserver } from "./beat.ts";

/** One wish for one pool. `plan` is synchronous, pure but for the turn, and may be run more than once. */
export interface Command<T> {
  /** For logs and metrics. */
  readonly name: string;
  /** Whose turn it is: queues are fair between tenants. */
  readonly tenantId: TenantId;
  /** A caller that has gone before the decision gets nothing. */
  readonly signal?: AbortSignal | undefined;
  /** The idempotency key that the reservation made by this command consumes. */
  readonly key?: Omit<KeyClaim, "reservationId"> | undefined;
  /** `pools.create`: the pool's own idempotency key. */
  readonly poolKey?: string | undefined;
  /** The sealed secret that a config change stores; undefined keeps the present one, null drops it. */
  readonly secret?: Uint8Array | null | undefined;
  /** The gate is made by this command: a new pool, or the first sight of a node in no pool. */
  readonly create?: boolean | undefined;
  /** Answers what it would do, and does none of it. */
  readonly dryRun?: boolean | undefined;
  plan(turn: Turn): Result<T>;
  /** How the accepted command is put on file, in the write that stores it; null: its caller does it. */
  file?(value: T): AuditEntry | null;
}

/** A value and the place in the pool's order that it is true at. */
export interface Committed<T> {
  readonly value: T;
  readonly seq: number;
  readonly now: number;
  /** Whether the command's entry is on file with it. */
  readonly filed?: boolean;
}

/**
 * A read of a committed state in which nothing is due. A generator yields where it may be paused: the
 * engine runs it in short slices and starts it again when the pool moved on in between.
 */
export type Read<T> = (state: PoolState, now: number) => T | Generator<unknown, T>;

/** A stored count that did not match a recount from the bookings. */
export interface Correction {
  /** `gpu`, or `quota of t-a: gpu`. */
  readonly row: string;
  readonly stored: Readonly<Record<string, unknown>> | null;
  readonly counted: Readonly<Record<string, unknown>>;
}

export interface HealingFacts {
  readonly tries: number;
  readonly searches: number;
  readonly healed: number;
  readonly degraded: number;
}

/** One gated write: what went into it and how long its two halves took, in milliseconds. */
export interface BatchFacts {
  readonly gateId: GateId;
  /** Commands that it carried. */
  readonly size: number;
  readonly planMs: number;
  /** Until the database's answer, the wait for the pool's row included. */
  readonly writeMs: number;
  /** `ok`, or why the gate did not take it. */
  readonly outcome: string;
  readonly commands: readonly Command<unknown>[];
}

/** Told of what operators watch; every method is optional. */
export interface EngineObserver extends BeatObserver {
  /** One gated write that the database answered. */
  batch?(facts: BatchFacts): void;
  /** How long a pool's lock was waited for before planning under it, in milliseconds. */
  lockWait?(ms: number): void;
  /** Another server's write came first. */
  gateLost?(): void;
  /** Planned under the pool's lock after losing the gate too often. */
  lockedPlan?(): void;
  /** The connection was lost after a write was sent; what became of it. */
  unknownOutcome?(became: "committed" | "aborted" | "unresolved"): void;
  /** The database refused what the planner thought right: a bug, and the alarm for it. */
  violation?(sqlState: string): void;
  /** A rebuild found a row that did not match its bookings. */
  correction?(gateId: GateId, correction: Correction): void;
  /**
   * One gated write that minded bookings on failed hardware: how often other room was sought for one, how
   * many of these searched the pool, and how many are sound, or flagged as degraded, by it.
   */
  healed?(facts: HealingFacts): void;
  /** One gated write that gave notice to so many spot bookings. */
  noticed?(count: number): void;
  /** How late a due transition was applied by the worker, in milliseconds. */
  lag?(ms: number): void;
}

export interface EngineLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface EngineOptions {
  /** Commands that one gated write carries at most. */
  readonly batchMax: number;
  /** Planning of one batch stops after this long; what is left goes into the next one. */
  readonly planSliceMs: number;
  /** Commands waiting for one pool at most; one more is `Overloaded`. */
  readonly queueMax: number;
  /** How long a command may wait for its decision; a waiter has had its own by then. */
  readonly deadlineMs: number;
  /** How often the lifecycle worker looks for due transitions. */
  readonly lifecycleMs: number;
  /** How often every pool's rollup is recounted; 0 never. */
  readonly rebuildMs: number;
  /** How often this server says that it is there; 0 only when it has to. */
  readonly beatMs: number;
}

export const DEFAULT_OPTIONS: EngineOptions = {
  batchMax: 64,
  planSliceMs: 10,
  queueMax: 2_000,
  deadlineMs: 15_000,
  lifecycleMs: 200,
  rebuildMs: 600_000,
  beatMs: 1_000,
};
