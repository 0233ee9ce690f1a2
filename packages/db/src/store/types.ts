/** What the engine asks of the database about one gate, and what it hands it to write. */
import type {
  Change,
  DomainEvent,
  GateId,
  LeaseClock,
  Node,
  Outage,
  PoolConfig,
  PoolSnapshot,
  Reservation,
  ReservationId,
  RollupRow,
  TenantId,
  UnitId,
  UnitReservation,
  Waiter,
} from "@berth/domain";

/** Where a gate stands, and what time did while nobody was there. */
export interface GateHead extends LeaseClock {
  readonly gateId: GateId;
  /** Raised by one with every batch. */
  readonly seq: number;
  /** The clock of the last batch. */
  readonly lastAt: number;
  /** `seq` of the last batch that changed the config, or a node. */
  readonly configSeq: number;
  readonly fleetSeq: number;
  /** Whoever knows less than this loads again. */
  readonly resetSeq: number;
  readonly nextDueAt: number | null;
  /** The database's clock, never before `lastAt`. */
  readonly now: number;
  /** End of the last outage that this gate's leases were raised for. */
  readonly graceTo: number;
  /** Those that they were not raised for yet, in their order. */
  readonly outages: readonly Outage[];
  /**
   * How long ago any server last beat, by the database's own clock; 0 before the first ever. Over 3 s it
   * is an outage, which the next beat records: one has to come before anything is planned.
   */
  readonly sinceBeatMs: number;
}

/** What a server learns when it says that it is there. */
export interface Beat {
  /** The database's own clock, milliseconds since the epoch: never the product's. */
  readonly wall: number;
  /** Since when no lease lapses, by the product's clock; null: they do. */
  readonly heldSince: number | null;
  /** Length of the outage that this beat ended, in the product's time; null: there was none. */
  readonly outageMs: number | null;
  /** Every server that was there in the last 5 s. */
  readonly servers: readonly string[];
}

/** An idempotency key and the reservation that it made. */
export interface KeyClaim {
  readonly tenantId: string;
  readonly principal: string;
  readonly key: string;
  readonly requestHash: string;
  readonly reservationId: ReservationId;
}

/** A quota row's shown use: the peak over live bookings from the batch's `now` on. */
export interface QuotaUsed {
  readonly tenantId: TenantId;
  readonly resource: string;
  readonly used: number;
}

/** A successful call that is on file with what it did. */
export interface AuditEntry {
  readonly principal: string;
  readonly tenantId: TenantId;
  readonly method: string;
  /** The id of what it was done to. */
  readonly target: string | null;
  readonly requestId: string;
}

/** Everything that one gated write stores. */
export interface GateBatch {
  /** Looked up when the outcome of the write is unknown. */
  readonly id: string;
  /** Distinct; one that exists already makes the gate write nothing. */
  readonly keys: readonly KeyClaim[];
  /** At most one a reservation, a node, a unit reservation, a waiter and the config. */
  readonly changes: readonly Change[];
  /** Sealed Kubernetes token of the config change: undefined keeps the stored one, null drops it. */
  readonly secret?: Uint8Array | null | undefined;
  /** Idempotency key of a pool that this batch creates. */
  readonly poolKey?: string | undefined;
  readonly quotaUsed: readonly QuotaUsed[];
  readonly rollup: readonly RollupRow[];
  readonly events: readonly DomainEvent[];
  /** The calls that the batch decides, as far as they ask for it. */
  readonly audit?: readonly AuditEntry[] | undefined;
  readonly nextDueAt: number | null;
  /** End of the last outage that the batch raised leases for, if it did. */
  readonly graceTo?: number | undefined;
}

export type ApplyOutcome =
  | { readonly ok: true; readonly seq: number }
  /** Somebody else was first; the present `seq`. Nothing was written. */
  | { readonly ok: false; readonly kind: "stale"; readonly seq: number }
  /** The batch was planned at a clock that is over; the present one. Nothing was written. */
  | { readonly ok: false; readonly kind: "behind"; readonly now: number }
  /** These keys exist already. Nothing was written. */
  | { readonly ok: false; readonly kind: "keys"; readonly keys: readonly KeyClaim[] }
  /** The pool exists already. Nothing was written. */
  | { readonly ok: false; readonly kind: "exists" }
  /** A new node or GPU is in another gate, its name is taken, or it was there at a later version. Nothing was written. */
  | { readonly ok: false; readonly kind: "elsewhere" }
  /** Another live unit reservation has these units in one of the batch's terms. Nothing was written. */
  | { readonly ok: false; readonly kind: "fenced"; readonly unitIds: readonly UnitId[] };

/** What changed above a sequence. */
export interface Delta {
  readonly head: GateHead;
  /** A node left, or too much was forgotten: load again. The rest is empty then. */
  readonly reset: boolean;
  /** Null when it did not change. */
  readonly config: PoolConfig | null;
  readonly nodes: readonly Node[];
  /** Ended ones too. */
  readonly reservations: readonly Reservation[];
  /** Ended ones too. */
  readonly unitReservations: readonly UnitReservation[];
  /** Null: it waits no longer. */
  readonly waiters: readonly { readonly id: ReservationId; readonly waiter: Waiter | null }[];
}

export interface Loaded {
  readonly head: GateHead;
  readonly snapshot: PoolSnapshot;
}

/** The stored counts beside the snapshot that they should be a recount of. */
export interface StoredCounts extends Loaded {
  readonly rollup: readonly RollupRow[];
  readonly used: readonly QuotaUsed[];
}

/** What one gate is to write when it still stands at `expectedSeq`; 0 when it is to be made. */
export interface GateWrite {
  readonly gateId: GateId;
  readonly expectedSeq: number;
  readonly batch: GateBatch;
}

/** What a planner may do while one connection holds the gate's lock. */
export interface LockedGate {
  head(gateId: GateId): Promise<GateHead | null>;
  load(gateId: GateId): Promise<Loaded | null>;
  delta(gateId: GateId, since: GateHead): Promise<Delta>;
  apply(expectedSeq: number, now: number, batch: GateBatch): Promise<ApplyOutcome>;
}

/** What an error of the store means to its caller. */
export type StoreFailure =
  /** The write was sent and its answer lost: ask `outcome`. */
  | { readonly kind: "unknown" }
  /** Nothing was written; the same may succeed when it is tried again shortly. */
  | { readonly kind: "transient" }
  /** The database refused what the planner thought right: a bug. */
  | { readonly kind: "violation"; readonly sqlState: string }
  /** Nothing of the database's. */
  | { readonly kind: "other" };

export interface PoolStore {
  failureOf(error: unknown): StoreFailure;
  /** The product's clock, milliseconds since the epoch. */
  now(): Promise<number>;
  head(gateId: GateId): Promise<GateHead | null>;
  /** One consistent snapshot. */
  load(gateId: GateId): Promise<Loaded | null>;
  /** What changed since a head that this store gave. */
  delta(gateId: GateId, since: GateHead): Promise<Delta>;
  /**
   * The gated write: all of the batch or nothing.
   * @throws UnknownOutcome when the connection was lost after it was sent: ask `outcome`
   */
  apply(write: GateWrite, now: number): Promise<ApplyOutcome>;
  /** The same for a node that moves from `a` to `b`; neither batch carries keys. `seq` is `b`'s. */
  applyPair(a: GateWrite, b: GateWrite, now: number): Promise<ApplyOutcome>;
  /**
   * Whether a batch was written. Waits for a lost write that is still running; when the answer is null that
   * write can never land any more.
   */
  outcome(gateId: GateId, batchId: string): Promise<{ readonly seq: number } | null>;
  /** Plans and writes under the gate's lock: the last resort of a planner that keeps losing. */
  locked<T>(gateId: GateId, work: (locked: LockedGate) => Promise<T>): Promise<T>;
  stored(gateId: GateId): Promise<StoredCounts | null>;
  /** Gates with something due, the longest overdue first. */
  due(limit: number): Promise<{ readonly gateId: GateId; readonly lateMs: number }[]>;
  /** Those that have something due, or an outage that their leases were not raised for. */
  dueAmong(gateIds: readonly GateId[]): Promise<GateId[]>;
  /** Says that this server is there. Finds the outage that this beat ends, if there was one. */
  beat(serverId: string): Promise<Beat>;
  /**
   * From now on no lease lapses, until an operator accepts the clock.
   * @param since the `wall` of the caller's last beat before the clock leapt
   */
  holdLeases(since: number): Promise<void>;
  /** Every gate that a batch was ever written to. */
  pools(): Promise<GateId[]>;
}
