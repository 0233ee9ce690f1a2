/**
 * Strict serialisability of a run, pool by pool. Each answer names the number that it was decided at, so
 * the order is given and only has to be checked: no search, O(n log n). A run is checked in stretches, one
 * after the other, with what is live in memory and what ended a while ago forgotten.
 */
import { Answers, checkReservation } from "./answers.ts";
import { checkBooked } from "./booked.ts";
import { factsOfEvent } from "./facts.ts";
import { checkFinal } from "./final.ts";
import { type Ordered, checkOrder } from "./order.ts";
import { checkRead, listed } from "./reads.ts";
import { checkNoCapacity, checkQuotaExceeded } from "./refusals.ts";
import { type Applied, PoolReplay } from "./replay.ts";
import type {
  Fault,
  FaultCode,
  FinalTables,
  History,
  Operation,
  Stretch,
  Watching,
} from "./types.ts";
import type { View } from "./view.ts";
import { Watched } from "./watched.ts";

/** More say nothing new. */
const FAULTS_MAX = 50;
/** A stretch checks this many refusals of gangs: the model tries every way, and they have many. */
const GANGS_MAX = 40;
const ORDERED = /^(reservations|capacity|pools)\./;

export interface Figures {
  operations: number;
  batches: number;
  events: number;
  answers: number;
  reads: number;
  refusals: number;
  unknown: number;
  watched: number;
}

export class Checker {
  readonly faults: Fault[] = [];
  readonly figures: Figures = {
    operations: 0,
    batches: 0,
    events: 0,
    answers: 0,
    reads: 0,
    refusals: 0,
    unknown: 0,
    watched: 0,
  };
  readonly #pools = new Map<string, PoolReplay>();
  readonly #poolOf = new Map<string, string>();
  readonly #answers = new Answers(this.#report.bind(this));
  readonly #watched: Watched;
  /** Decided at numbers that no stretch has brought yet. */
  #later: Operation[] = [];
  /** Each pool's number at the end of the stretch before the last. */
  #marks: (readonly [Map<string, number>, number])[] = [];
  #gangs = 0;

  constructor(watching: readonly Watching[]) {
    this.#watched = new Watched(watching, this.#report.bind(this));
  }

  take(stretch: Stretch): void {
    this.#gangs = 0;
    const { operations, batches } = stretch;
    this.figures.operations += operations.length;
    this.figures.unknown += operations.filter(({ outcome }) => outcome === "unknown").length;
    for (const op of operations) this.#answers.note(op);
    this.#noteWhere(batches);
    const byPool = Map.groupBy([...this.#later, ...operations], (op) => this.#gateOf(op));
    this.#later = [];
    const batchesOf = Map.groupBy(batches, ({ gateId }) => gateId);
    for (const gateId of new Set([...batchesOf.keys(), ...byPool.keys()]))
      if (gateId !== null)
        this.#takePool(gateId, {
          ...stretch,
          batches: batchesOf.get(gateId) ?? [],
          operations: byPool.get(gateId) ?? [],
        });
    this.#watched.take(stretch);
    this.figures.watched = this.#watched.matched;
    this.#forget(Math.max(0, ...operations.map(({ t1 }) => t1)));
  }

  end(final: FinalTables | null): void {
    for (const op of this.#later)
      this.#report("LOST_WRITE", `operation ${op.n} was answered at ${op.seq}, past the log's end`);
    this.#watched.end();
    if (final) checkFinal(final, this.#pools, this.#report.bind(this));
  }

  #report(code: FaultCode, message: string): void {
    if (this.faults.length < FAULTS_MAX) this.faults.push({ code, message });
  }

  #noteWhere(batches: Stretch["batches"]): void {
    for (const { gateId, events } of batches)
      for (const { type, reservationId } of events)
        if (type === "reservation.created" && reservationId !== null)
          this.#poolOf.set(reservationId, gateId);
  }

  /** Null: it says nothing of one pool's order. */
  #gateOf({ method, seq, body, input }: Operation): string | null {
    if (seq === null || !ORDERED.test(method)) return null;
    const named = body["poolId"] ?? input["poolId"];
    if (typeof named === "string") return named;
    return this.#poolOf.get(String(input["reservationId"])) ?? null;
  }

  #takePool(
    gateId: string,
    { batches, operations }: Pick<Stretch, "batches" | "operations">,
  ): void {
    const pool = this.#pools.get(gateId) ?? new PoolReplay(gateId, this.#report.bind(this));
    this.#pools.set(gateId, pool);
    const bySeq = Map.groupBy(operations, (op) => Number(op.seq));
    const ordered: Ordered[] = [];
    for (const op of operations) {
      if (Number(op.seq) >= pool.seq) continue;
      ordered.push({ op, seq: Number(op.seq), wrote: false });
      this.#report(
        "STALE_READ",
        `operation ${op.n} began when ${gateId} was at ${pool.seq}, and was answered at ${op.seq}`,
      );
    }
    ordered.push(...this.#checkAt(pool, null, bySeq.get(pool.seq) ?? []));
    for (const batch of batches) {
      this.figures.batches += 1;
      this.figures.events += batch.events.length;
      const applied = pool.apply(batch);
      checkBooked(applied, this.#report.bind(this));
      ordered.push(...this.#checkAt(pool, applied, bySeq.get(batch.seq) ?? []));
    }
    this.#later.push(...operations.filter((op) => Number(op.seq) > pool.seq));
    checkOrder(ordered, this.#report.bind(this));
  }

  /** Every call that was decided at the pool's number. */
  #checkAt(pool: PoolReplay, applied: Applied | null, ops: readonly Operation[]): Ordered[] {
    const wrote = applied && this.#answers.checkBatch(applied, ops);
    const view = ops.length > 0 ? (applied?.after ?? pool.view()) : null;
    const moments = (): View[] => applied?.between() ?? (view ? [view] : []);
    for (const op of ops) {
      if (op.outcome === "ok" && view) this.#checkAnswer(op, { pool, applied, view });
      else if (op.outcome === "refused") this.#checkRefusal(op, moments);
    }
    return ops.map((op) => ({ op, seq: Number(op.seq), wrote: wrote?.has(op) ?? false }));
  }

  #checkAnswer(
    op: Operation,
    { pool, applied, view }: { pool: PoolReplay; applied: Applied | null; view: View },
  ): void {
    const report = this.#report.bind(this);
    for (const row of listed(op)) {
      const known = pool.reservations.get(String(row["id"]));
      const version = Number(row["version"]);
      // What is listed may be newer than the number, and so not in the log yet.
      if (known && version < known.row.version)
        report(
          "STALE_READ",
          `operation ${op.n} at ${op.seq} lists ${known.row.id} at version ${version}, not ${known.row.version}`,
        );
      this.figures.reads += 1;
    }
    const dryRun = op.input["dryRun"] === true;
    if (
      op.method.startsWith("reservations.") &&
      typeof op.body["version"] === "number" &&
      !dryRun
    ) {
      const id = String(op.body["id"]);
      const known = pool.reservations.get(id);
      const endedAt = op.body["endedAt"];
      if (!known && typeof endedAt === "number" && endedAt <= pool.forgottenTo) return;
      this.figures.answers += 1;
      checkReservation(op, known, { written: writtenIn(applied, id), report });
    } else if (checkRead(op, view, report)) this.figures.reads += 1;
  }

  #checkRefusal(op: Operation, moments: () => View[]): void {
    const gang = op.input["gang"] !== undefined;
    if (op.code === "NO_CAPACITY" && gang && (this.#gangs += 1) > GANGS_MAX) return;
    const check = { NO_CAPACITY: checkNoCapacity, QUOTA_EXCEEDED: checkQuotaExceeded }[
      op.code ?? ""
    ];
    if (check?.(op, moments, this.#report.bind(this))) this.figures.refusals += 1;
  }

  /** Two stretches back nobody asks any more. */
  #forget(now: number): void {
    this.#marks.push([new Map([...this.#pools].map(([id, { seq }]) => [id, seq])), now]);
    if (this.#marks.length < 3) return;
    const [seqs, before] = this.#marks.shift() ?? [new Map<string, number>(), 0];
    for (const [gateId, seq] of seqs) this.#pools.get(gateId)?.forget(seq);
    for (const [id, gateId] of this.#poolOf)
      if (!this.#pools.get(gateId)?.reservations.has(id)) this.#poolOf.delete(id);
    this.#answers.forget(before);
  }
}

/** Versions that the batch made of the reservation, and the one that it found. */
function writtenIn(applied: Applied | null, id: string): ReadonlySet<number> {
  const versions = (applied?.events ?? [])
    .filter(({ reservationId }) => reservationId === id)
    .map(({ data }) => factsOfEvent(data).version);
  return new Set(versions.flatMap((version) => [version - 1, version]));
}

/** A whole run at once. */
export function checkHistory({ watching, stretches, final }: History): Checker {
  const checker = new Checker(watching);
  for (const stretch of stretches) checker.take(stretch);
  checker.end(final);
  return checker;
}
