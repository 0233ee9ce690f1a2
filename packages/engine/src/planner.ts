/**
 * Plans one batch at one view of a pool: what time did comes first, then those who lack room, then the
 * newcomers one after the other. Synchronous from start to end, so nobody sees the state in between.
 */
import type { AuditEntry, GateBatch, KeyClaim } from "@berth/db";
import {
  type EventType,
  type GateId,
  type Result,
  applyDue,
  applyGrace,
  freshId,
  healingOf,
  stopWaitingWith,
  useFreed,
} from "@berth/domain";
import { BatchTurn, type TurnContext, keyOf } from "./batch-turn.ts";
import { GateExists } from "./errors.ts";
import type { View } from "./pool-cache.ts";
import type { Command, Committed, EngineLog, EngineOptions, HealingFacts } from "./types.ts";

/** A command that waits for its decision. */
export interface Pending {
  readonly tenantId: string;
  readonly command: Command<unknown>;
  readonly deadline: number;
  settle(decided: Committed<Result<unknown>>): void;
  fail(error: Error): void;
}

/** A command and what became of it. */
interface Decided {
  readonly pending: Pending;
  readonly result: Result<unknown>;
  /** Its entry goes with the batch, if there is one. */
  readonly filed: boolean;
}

/** A batch planned at one view: what to write, and what to answer when it is taken. */
export interface Plan {
  readonly view: View;
  readonly carried: Carried;
  readonly batch: GateBatch | null;
  readonly answers: readonly Decided[];
  /** Commands that go into a later batch. */
  readonly left: readonly Pending[];
  readonly planMs: number;
  readonly healing: HealingFacts;
  /** Spot bookings that were given notice. */
  readonly noticed: number;
}

export interface PlanContext extends TurnContext {
  readonly gateId: GateId;
  readonly log: EngineLog;
  readonly options: EngineOptions;
  /** Milliseconds of a clock that only ever goes forward. */
  readonly elapsed: () => number;
}

/** What earlier batches of this process leave to the next one. */
export interface Carried {
  /** Keys that turned out to have made their reservation: whoever waits with one waits no more. */
  readonly spent: ReadonlyMap<string, KeyClaim>;
  /** Something was freed by a write that could not serve anybody. */
  readonly freed: boolean;
}

/** What planning has gathered so far. */
interface Planned {
  readonly answers: Decided[];
  readonly left: Pending[];
  readonly extras: { secret?: Uint8Array | null; poolKey?: string };
  /** Nothing else goes into this batch. */
  closed?: boolean;
}

export function planBatch(
  context: PlanContext,
  view: View,
  { todo, carried }: { readonly todo: readonly Pending[]; readonly carried: Carried },
): Plan {
  const { elapsed, options, random } = context;
  const started = elapsed();
  const turn = new BatchTurn(view, context);
  const start = turn.checkpoint();
  const planned: Planned = { answers: [], left: [], extras: {} };
  try {
    openTurn(turn, view);
    for (const claim of carried.spent.values()) stopWaitingWith(turn, claim);
    if (carried.freed) turn.markFreed();
    useFreed(turn);
    turn.claimServed(start);
    for (const [index, pending] of todo.entries()) {
      const late = index > 0 && elapsed() - started > options.planSliceMs;
      if (late || planned.closed || mustWait(pending.command, turn)) planned.left.push(pending);
      else planOne(context, turn, { pending, planned });
    }
    const id = freshId("evt", view.now, random(10));
    const batch = turn.isIdle ? null : { ...turn.finish(id), ...planned.extras };
    const { answers, left } = planned;
    const facts = {
      healing: healingFacts(turn, batch),
      noticed: told(batch, "reservation.preempting"),
    };
    return { view, carried, batch, answers, left, planMs: elapsed() - started, ...facts };
  } finally {
    turn.rollback(start);
  }
}

function healingFacts(turn: BatchTurn, batch: GateBatch | null): HealingFacts {
  const { tries, searches } = healingOf(turn);
  const healed = told(batch, "reservation.healed");
  return { tries, searches, healed, degraded: told(batch, "reservation.degraded") };
}

/** How many events of the type the batch has. */
function told(batch: GateBatch | null, type: EventType): number {
  return batch?.events.filter((event) => event.type === type).length ?? 0;
}

/** What comes before anything else on any gate: leases are minded, then time does what is due. */
export function openTurn(turn: BatchTurn, { clock }: View): void {
  applyGrace(turn, clock);
  applyDue(turn);
}

function planOne(
  context: PlanContext,
  turn: BatchTurn,
  { pending, planned }: { readonly pending: Pending; readonly planned: Planned },
): void {
  const { command } = pending;
  // Planned all the same, it would put a new pool in the place of the one that is there.
  if (command.create && turn.state.config) return pending.fail(new GateExists(context.gateId));
  const before = turn.checkpoint();
  let result: Result<unknown>;
  let entry: AuditEntry | null = null;
  try {
    result = command.plan(turn);
    if (!result.ok || command.dryRun) turn.rollback(before);
    else {
      entry = command.file?.(result.value) ?? null;
      settleOne(turn, command, before);
    }
  } catch (error) {
    // A bug in one command is that command's alone.
    turn.rollback(before);
    const stack = error instanceof Error ? error.stack : undefined;
    context.log.error({ command: command.name, stack }, "planning threw");
    return pending.fail(error instanceof Error ? error : new Error(String(error)));
  }
  if (entry) turn.file(entry);
  planned.answers.push({ pending, result, filed: entry !== null });
  if (!isAlone(command)) return;
  planned.closed = true;
  if (command.secret !== undefined) planned.extras.secret = command.secret;
  if (command.poolKey !== undefined) planned.extras.poolKey = command.poolKey;
}

/** An accepted command: its key is spent, and what it freed is used before the next one is looked at. */
function settleOne(
  turn: BatchTurn,
  { key }: Command<unknown>,
  before: ReturnType<BatchTurn["checkpoint"]>,
): void {
  const made = key && turn.createdSince(before);
  if (made) stopWaitingWith(turn, key);
  useFreed(turn);
  turn.claimServed(before);
  if (made) turn.claim(key, made);
}

/** A command that makes its pool or brings a secret is written by itself. */
function isAlone(command: Command<unknown>): boolean {
  return command.create === true || command.secret !== undefined;
}

/** Whether the command has to go into a later batch: one key is claimed once a batch. */
function mustWait(command: Command<unknown>, turn: BatchTurn): boolean {
  if (isAlone(command)) return !turn.isEmpty;
  return command.key !== undefined && turn.claims.has(keyOf(command.key));
}
