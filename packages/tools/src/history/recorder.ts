/** Writes down every call of a run, and cuts what the database wrote into stretches for the checker. */
import type { Client } from "@berth/db";
import type { Answer, Caller } from "../bench/caller.ts";
import { gateNumbers, takeFinal, takeJournal } from "./journal.ts";
import type {
  Batch,
  EventRow,
  FeedRow,
  FinalTables,
  Json,
  Operation,
  Seen,
  Stretch,
} from "./types.ts";

/** Thrown to the caller when nobody knows what became of the call. */
export class Lost extends Error {}

export interface Ask {
  readonly caller: string;
  readonly tenantId: string;
  readonly method: string;
  readonly input: object;
}

/** Whose answers are checked, or say which pool they are about. */
const KEPT = /^(reservations|capacity|pools)\./;
const NOTHING: Json = {};

export class Recorder {
  readonly #sql: Client;
  readonly #flying = new Set<Promise<unknown>>();
  #done: Operation[] = [];
  #begun = 0;
  /** Written, and past the last cut. */
  #batches: Batch[] = [];
  /** Of transactions that another one may still come before. */
  #feed: EventRow[] = [];

  /** @param sql of a database with a journal */
  constructor(sql: Client) {
    this.#sql = sql;
  }

  /** @throws Lost */
  async call(ask: Ask, through: Caller): Promise<Answer> {
    const { promise: over, resolve: ended } = Promise.withResolvers<void>();
    this.#flying.add(over);
    const begun = {
      ...ask,
      input: ask.input as Json,
      n: (this.#begun += 1),
      t0: performance.now(),
    };
    try {
      const answer = await through.call(ask.method, ask.input);
      this.#done.push({ ...begun, ...outcomeOf(answer, ask.method), ...now() });
      if (answer.status === 503) throw new Lost(String(answer.body["code"]));
      return answer;
    } catch (error) {
      if (error instanceof Lost) throw error;
      const lost = {
        outcome: "unknown",
        code: null,
        seq: null,
        replayed: false,
        body: NOTHING,
      } as const;
      this.#done.push({ ...begun, ...lost, ...now() });
      throw new Lost(error instanceof Error ? error.message : String(error));
    } finally {
      this.#flying.delete(over);
      ended();
    }
  }

  /**
   * Everything since the last one, up to where every pool is now. Calls go on meanwhile: those that have
   * begun by now are waited for, and those that begin later are decided past the cut, or wrongly so.
   */
  async stretch(seen: readonly Seen[]): Promise<Stretch> {
    const cut = await gateNumbers(this.#sql);
    await Promise.all(this.#flying);
    const operations = this.#done;
    this.#done = [];
    const { batches, horizon } = await takeJournal(this.#sql);
    const isIn = ({ gateId, seq }: Batch): boolean => seq <= (cut.get(gateId) ?? 0);
    const [within, past] = [[...this.#batches, ...batches].filter(isIn), [] as Batch[]];
    past.push(...[...this.#batches, ...batches].filter((batch) => !isIn(batch)));
    this.#batches = past;
    this.#feed.push(...batches.flatMap(({ events }) => events));
    return { batches: within, operations, feed: this.#takeFeed(horizon), seen };
  }

  /** Once nobody writes any more. */
  final(): Promise<FinalTables> {
    return takeFinal(this.#sql);
  }

  #takeFeed(horizon: bigint): FeedRow[] {
    const settled = this.#feed.filter(({ xid }) => BigInt(xid) < horizon);
    this.#feed = this.#feed.filter(({ xid }) => BigInt(xid) >= horizon);
    const order = (a: EventRow, b: EventRow): number =>
      a.xid === b.xid ? a.id - b.id : BigInt(a.xid) < BigInt(b.xid) ? -1 : 1;
    return settled
      .toSorted(order)
      .map(({ tenantId, eventId, stream, seq, idx }) => ({ tenantId, eventId, stream, seq, idx }));
  }
}

const now = (): Pick<Operation, "t1" | "endedAt"> => ({
  t1: performance.now(),
  endedAt: Date.now(),
});

type Outcome = Pick<Operation, "outcome" | "code" | "seq" | "replayed" | "body">;

/** A server that is unavailable, or has a fault, does not say whether it wrote: nobody knows. */
function outcomeOf({ status, seq, replayed, body }: Answer, method: string): Outcome {
  const code = status === 200 ? null : String(body["code"]);
  const outcome = status === 200 ? "ok" : status >= 500 ? "unknown" : "refused";
  const kept = status !== 200 || KEPT.test(method);
  return {
    outcome,
    code,
    seq: outcome === "unknown" ? null : seq,
    replayed,
    body: kept ? body : NOTHING,
  };
}
