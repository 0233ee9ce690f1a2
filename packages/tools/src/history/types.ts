/** What a run leaves behind: the calls as their callers saw them, and what the database wrote. */

export type Json = Readonly<Record<string, unknown>>;

/** One call. Times are milliseconds of one monotonic clock: that of the process that makes all calls. */
export interface Operation {
  /** In the order in which they began. */
  readonly n: number;
  readonly caller: string;
  readonly tenantId: string;
  readonly method: string;
  readonly input: Json;
  readonly t0: number;
  readonly t1: number;
  /** When it ended, by the machine's clock: milliseconds since the epoch. */
  readonly endedAt: number;
  /** `unknown`: the connection was lost, or the server said that it does not know. */
  readonly outcome: "ok" | "refused" | "unknown";
  /** An error's. */
  readonly code: string | null;
  /** `x-berth-seq`. */
  readonly seq: number | null;
  /** `Idempotent-Replayed`. */
  readonly replayed: boolean;
  /** What was answered, of the methods that are checked. */
  readonly body: Json;
}

/** A row as it was after the statement that wrote it; of a delete, as it was before. */
export interface WrittenRow {
  readonly table: string;
  readonly op: "I" | "U" | "D";
  readonly data: Json;
}

export interface EventRow {
  /** Its place in the feed is (xid, id); a number of 64 bits. */
  readonly xid: string;
  readonly id: number;
  readonly tenantId: string;
  readonly eventId: string;
  readonly stream: string;
  readonly reservationId: string | null;
  readonly seq: number;
  readonly idx: number;
  readonly type: string;
  readonly at: number;
  readonly data: Json;
}

/** Everything that was written with one number of one gate. */
export interface Batch {
  readonly gateId: string;
  readonly seq: number;
  /** The gate's clock. */
  readonly at: number;
  /** Null: the number was given up, so that a lost write can never land. */
  readonly batchId: string | null;
  readonly rows: readonly WrittenRow[];
  readonly events: readonly EventRow[];
}

/** An event in the feed's order. */
export type FeedRow = Pick<EventRow, "tenantId" | "eventId" | "stream" | "seq" | "idx">;

/** What one watcher was sent since the last look, over all its connections. */
export interface Seen {
  readonly tenantId: string;
  readonly eventIds: readonly string[];
}

/** A tenant's live events are watched from after this one on; null: from the first. */
export interface Watching {
  readonly tenantId: string;
  readonly after: string | null;
}

/** A stretch of a run: all batches up to the cut, all calls that were decided by it. */
export interface Stretch {
  readonly batches: readonly Batch[];
  readonly operations: readonly Operation[];
  /** In the order of the feed, and no later one can come before them. */
  readonly feed: readonly FeedRow[];
  readonly seen: readonly Seen[];
}

/** Tables as they are when nobody writes any more. */
export interface FinalTables {
  readonly gates: readonly { readonly id: string; readonly seq: number }[];
  readonly reservations: readonly Json[];
  readonly bookings: readonly Json[];
  readonly quotas: readonly Json[];
  /** How many events each stream has in all. */
  readonly events: readonly { readonly stream: string; readonly count: number }[];
}

export interface History {
  readonly watching: readonly Watching[];
  readonly stretches: readonly Stretch[];
  readonly final: FinalTables | null;
}

export interface Fault {
  readonly code: FaultCode;
  readonly message: string;
}

/** What the checker can find, and the promise that is broken by it. */
export const FAULT_CODES = {
  LOG_HOLE: "a gate's numbers, or the events of one, have a hole or come twice",
  ILLEGAL_EVENT: "an event that cannot happen where it stands",
  UNTOLD: "a row changed and no event tells of it, or an event tells what no row says",
  OVERLAP: "two bookings of one unit at one instant",
  EMPTY_WINDOW: "a booking of no time",
  WRONG_BOOKINGS: "a reservation's bookings are not what it holds",
  OVER_QUOTA: "more in use than the quota allows",
  QUOTA_DRIFT: "the shown use is not the peak over the bookings",
  WITHHELD: "booked on a unit that was withheld from the tenant",
  UNSOUND: "booked on hardware that was out of service",
  OVER_SCALAR: "more of a node's scalar in use than it has",
  LOST_WRITE: "an answer that the log does not bear out",
  GHOST_WRITE: "an event that nobody asked for",
  REFUSED_BUT_BOOKED: "a call was refused and did it all the same",
  KEY_TWICE: "one idempotency key, two reservations",
  REAL_TIME: "a call that began after another had ended was ordered before it",
  STALE_READ: "a read of a state that was over when it began",
  WRONG_READ: "an answer that no state at its number gives",
  COULD_HAVE_FIT: "refused for want of room, and there was room",
  COULD_HAVE_PAID: "refused for want of quota, and there was quota",
  WATCH: "a stream is not the log as its audience may see it",
  FINAL: "the tables are not what the log adds up to",
} as const;
export type FaultCode = keyof typeof FAULT_CODES;

export type Report = (code: FaultCode, message: string) => void;
