/** The pool store on PostgreSQL: reads of a gate in one statement each, writes through the gate's function. */
import type { GateId, PoolSnapshot, Waiter } from "@berth/domain";
import type { Database } from "../database.ts";
import { ConnectionLost, UnknownOutcome, isTransient, sqlState } from "../errors.ts";
import { gathering } from "../gathering.ts";
import { int, intOrNull } from "../numbers.ts";
import {
  configOf,
  nodeOf,
  quotaUsedOf,
  reservationOf,
  rollupOf,
  unitReservationOf,
  waiterOf,
} from "../rows.ts";
import type { Parameter } from "../slot-pool.ts";
import { batchJson } from "./batch-json.ts";
import * as queries from "./queries.ts";
import type {
  ApplyOutcome,
  Beat,
  Delta,
  GateHead,
  GateWrite,
  Loaded,
  LockedGate,
  PoolStore,
  StoredCounts,
  StoreFailure,
} from "./types.ts";
import { type TimedWrite, type TogetherOutcome, writingTogether } from "./writes-together.ts";

/** Runs one of our texts and answers its rows: on any read connection, or on the one that holds a lock. */
type Run = <T>(text: string, params?: readonly Parameter[]) => Promise<T[]>;
type Row = Readonly<Record<string, unknown>>;

/** Above the server's own limit for a statement. */
const READ_MS = 9_000;

export function createPoolStore(db: Database): PoolStore {
  return new SqlPoolStore(db);
}

class SqlPoolStore implements PoolStore {
  readonly #db: Database;
  readonly #read: Run;
  readonly #heads: (gateId: GateId) => Promise<GateHead | null>;
  readonly #apply: (write: TimedWrite) => Promise<ApplyOutcome>;

  constructor(db: Database) {
    this.#db = db;
    this.#read = async <T>(text: string, params: readonly Parameter[] = []) => {
      const rows = await inTime(db.sql.unsafe(text, [...params], { prepare: true }));
      return [...(rows as readonly unknown[])] as T[];
    };
    this.#heads = gathering((gateIds) => readHeads(this.#read, gateIds));
    const run: Run = (text, params) => db.slots.run(text, params);
    this.#apply = writingTogether({
      alone: (write) => apply(run, write, write.now),
      together: (writes) => applyTogether(run, writes),
    });
  }

  failureOf(error: unknown): StoreFailure {
    if (error instanceof UnknownOutcome) return { kind: "unknown" };
    if (isTransient(error)) return { kind: "transient" };
    const code = sqlState(error);
    return code === undefined ? { kind: "other" } : { kind: "violation", sqlState: code };
  }

  async now(): Promise<number> {
    const [row] = await this.#read<{ now: number }>(queries.NOW_QUERY);
    return int(row?.now);
  }

  head(gateId: GateId): Promise<GateHead | null> {
    return this.#heads(gateId);
  }

  load(gateId: GateId): Promise<Loaded | null> {
    return readGate(this.#read, gateId);
  }

  delta(gateId: GateId, since: GateHead): Promise<Delta> {
    return readDelta(this.#read, gateId, since);
  }

  apply(write: GateWrite, now: number): Promise<ApplyOutcome> {
    return this.#apply({ ...write, now });
  }

  async applyPair(a: GateWrite, b: GateWrite, now: number): Promise<ApplyOutcome> {
    const side = ({ gateId, expectedSeq, batch }: GateWrite): Parameter[] => [
      gateId,
      expectedSeq,
      json(batchJson(gateId, batch)),
    ];
    const [row] = await this.#db.slots.run<{ outcome: ApplyOutcome }>(queries.APPLY_PAIR_QUERY, [
      ...side(a),
      ...side(b),
      now,
    ]);
    return outcomeOf(row);
  }

  async outcome(gateId: GateId, batchId: string): Promise<{ seq: number } | null> {
    const [row] = await this.#db.slots
      .run<{ seq: number | null }>(queries.OUTCOME_QUERY, [gateId, batchId])
      .catch((error: unknown) => {
        // Asking twice is harmless, so a lost question is an ordinary lost connection.
        throw error instanceof UnknownOutcome && error.cause ? error.cause : error;
      });
    return typeof row?.seq === "number" ? { seq: row.seq } : null;
  }

  locked<T>(gateId: GateId, work: (locked: LockedGate) => Promise<T>): Promise<T> {
    return this.#db.slots.tx(async (tx) => {
      const run: Run = (text, params) => tx.q(text, params);
      await run(queries.LOCK_TIMEOUT_QUERY);
      await run(queries.LOCK_QUERY, [gateId]);
      return work({
        head: (id) => readHead(run, id),
        load: (id) => readGate(run, id),
        delta: (id, since) => readDelta(run, id, since),
        apply: (expectedSeq, now, batch) => apply(run, { gateId, expectedSeq, batch }, now),
      });
    });
  }

  async stored(gateId: GateId): Promise<StoredCounts | null> {
    const [row] = await this.#read<Row>(queries.STORED_QUERY, [gateId]);
    if (!row) return null;
    return {
      head: headOf(row),
      snapshot: snapshotOf(gateId, row),
      rollup: list(row["rollup"]).map(rollupOf),
      used: list(row["used"]).map(quotaUsedOf),
    };
  }

  due(limit: number): Promise<{ gateId: GateId; lateMs: number }[]> {
    return this.#read(queries.DUE_QUERY, [limit]);
  }

  async dueAmong(gateIds: readonly GateId[]): Promise<GateId[]> {
    const rows = await this.#read<{ gateId: GateId }>(queries.DUE_AMONG_QUERY, [[...gateIds]]);
    return rows.map(({ gateId }) => gateId);
  }

  async beat(serverId: string): Promise<Beat> {
    // Not through the slots: whoever holds one of them may have to wait for a beat.
    const [row] = await this.#read<{ beat: Beat }>(queries.BEAT_QUERY, [serverId]);
    if (!row) throw new ConnectionLost("no answer");
    const { wall, heldSince, outageMs, servers } = row.beat;
    return {
      wall: int(wall),
      heldSince: intOrNull(heldSince),
      outageMs: intOrNull(outageMs),
      servers,
    };
  }

  async holdLeases(since: number): Promise<void> {
    await this.#read(queries.HOLD_QUERY, [since]);
  }

  async pools(): Promise<GateId[]> {
    const rows = await this.#read<{ gateId: GateId }>(queries.GATES_QUERY);
    return rows.map(({ gateId }) => gateId);
  }
}

/** The driver leaves a read waiting for ever while somebody accepts its connections and hangs up. */
async function inTime<T>(read: PromiseLike<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new ConnectionLost("no answer")), READ_MS);
  try {
    return await Promise.race([read, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function readHead(run: Run, gateId: GateId): Promise<GateHead | null> {
  const [head] = await run<Row>(queries.HEAD_QUERY, [gateId]);
  return head ? headOf(head) : null;
}

async function readHeads(run: Run, gateIds: readonly GateId[]): Promise<(GateHead | null)[]> {
  const rows = await run<Row>(queries.HEADS_QUERY, [JSON.stringify([...new Set(gateIds)])]);
  const heads = new Map(rows.map((row) => [row["gateId"], headOf(row)]));
  return gateIds.map((gateId) => heads.get(gateId) ?? null);
}

async function readGate(run: Run, gateId: GateId): Promise<Loaded | null> {
  const [row] = await run<Row>(queries.LOAD_QUERY, [gateId]);
  return row ? { head: headOf(row), snapshot: snapshotOf(gateId, row) } : null;
}

async function readDelta(run: Run, gateId: GateId, since: GateHead): Promise<Delta> {
  const [row] = await run<Row>(queries.DELTA_QUERY, [gateId, since.seq]);
  if (!row) throw new Error(`there is no gate ${gateId}`);
  return {
    head: headOf(row),
    reset: row["reset"] === true,
    config: row["config"] ? configOf(row["config"] as Row) : null,
    nodes: list(row["nodes"]).map(nodeOf),
    reservations: list(row["reservations"]).map(reservationOf),
    unitReservations: list(row["unit_reservations"]).map(unitReservationOf),
    waiters: list(row["waiters"]).map((waiter) => ({
      id: waiter["id"] as Waiter["id"],
      waiter: waiter["done_at"] === null ? waiterOf(waiter) : null,
    })),
  };
}

async function apply(run: Run, write: GateWrite, now: number): Promise<ApplyOutcome> {
  const { gateId, expectedSeq, batch } = write;
  const params = [gateId, expectedSeq, now, json(batchJson(gateId, batch))];
  const [row] = await run<{ outcome: ApplyOutcome }>(queries.APPLY_QUERY, params);
  return outcomeOf(row);
}

async function applyTogether(run: Run, writes: object): Promise<readonly TogetherOutcome[]> {
  const [row] = await run<{ outcomes: readonly TogetherOutcome[] }>(queries.APPLY_TOGETHER_QUERY, [
    json(writes),
  ]);
  if (!row) throw new UnknownOutcome(new Error("the gate gave no answer"));
  return row.outcomes.map((outcome) =>
    !outcome.ok && outcome.kind === "alone" ? outcome : outcomeOf({ outcome }),
  );
}

function outcomeOf(row: { outcome: ApplyOutcome } | undefined): ApplyOutcome {
  // An answer without its row is no answer: the write may have happened.
  if (!row) throw new UnknownOutcome(new Error("the gate gave no answer"));
  const { outcome } = row;
  if (outcome.ok || outcome.kind === "stale") int(outcome.seq);
  return outcome;
}

function headOf(row: Row): GateHead {
  const { gateId, seq, lastAt, configSeq, fleetSeq, resetSeq, nextDueAt, now, graceTo } =
    row as Row & GateHead;
  const { outages, sinceBeatMs, heldSince } = row as Pick<GateHead, "sinceBeatMs" | "heldSince"> & {
    outages: GateHead["outages"] | null;
  };
  return {
    gateId,
    seq,
    lastAt,
    configSeq,
    fleetSeq,
    resetSeq,
    nextDueAt,
    now,
    graceTo,
    outages: (outages ?? []).map(({ from, to }) => ({ from: int(from), to: int(to) })),
    sinceBeatMs,
    heldSince,
  };
}

function snapshotOf(gateId: GateId, row: Row): PoolSnapshot {
  return {
    gateId,
    config: row["config"] ? configOf(row["config"] as Row) : null,
    nodes: list(row["nodes"]).map(nodeOf),
    reservations: list(row["reservations"]).map(reservationOf),
    unitReservations: list(row["unit_reservations"]).map(unitReservationOf),
    waiters: list(row["waiters"]).map(waiterOf),
  };
}

function list(value: unknown): readonly Row[] {
  return value as readonly Row[];
}

/** The driver writes the value as JSON where the statement says jsonb. */
function json(value: object): Parameter {
  return value as Parameter;
}
