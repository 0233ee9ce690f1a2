/**
 * A store that keeps nothing but each gate's number: a pool is made when it is first loaded, and what is written
 * to it is only known to the engine that wrote it. With a second engine, or a fault, it would be wrong.
 */
import type {
  ApplyOutcome,
  Beat,
  Delta,
  GateHead,
  GateWrite,
  Loaded,
  PoolStore,
  StoreFailure,
} from "@berth/db";
import type { GateId, PoolSnapshot } from "@berth/domain";

/** Nobody asks this store for it. */
function unasked(): never {
  throw new Error("the bench's store has one writer, no faults and nothing due");
}

export class CountingStore implements PoolStore {
  readonly now: () => Promise<number>;
  readonly #clock: number;
  readonly #make: (gateId: GateId) => PoolSnapshot;
  readonly #seqs = new Map<GateId, number>();
  batches = 0;
  changes = 0;

  constructor(clock: number, make: (gateId: GateId) => PoolSnapshot) {
    this.#clock = clock;
    this.#make = make;
    this.now = () => Promise.resolve(clock);
  }

  failureOf(): StoreFailure {
    return { kind: "other" };
  }

  head(gateId: GateId): Promise<GateHead> {
    return Promise.resolve(this.#head(gateId));
  }

  load(gateId: GateId): Promise<Loaded> {
    return Promise.resolve({ head: this.#head(gateId), snapshot: this.#make(gateId) });
  }

  apply({ gateId, expectedSeq, batch }: GateWrite): Promise<ApplyOutcome> {
    const { seq } = this.#head(gateId);
    if (seq !== expectedSeq) return Promise.resolve({ ok: false, kind: "stale", seq });
    this.#seqs.set(gateId, seq + 1);
    this.batches += 1;
    this.changes += batch.changes.length;
    return Promise.resolve({ ok: true, seq: seq + 1 });
  }

  beat(serverId: string): Promise<Beat> {
    const wall = performance.timeOrigin + performance.now();
    return Promise.resolve({ wall, heldSince: null, outageMs: null, servers: [serverId] });
  }

  delta(): Promise<Delta> {
    return unasked();
  }

  applyPair(): Promise<ApplyOutcome> {
    return unasked();
  }

  outcome(): Promise<null> {
    return unasked();
  }

  locked<T>(): Promise<T> {
    return unasked();
  }

  stored(): Promise<null> {
    return unasked();
  }

  due(): Promise<[]> {
    return Promise.resolve([]);
  }

  dueAmong(): Promise<GateId[]> {
    return Promise.resolve([]);
  }

  holdLeases(): Promise<void> {
    return unasked();
  }

  pools(): Promise<GateId[]> {
    return Promise.resolve([...this.#seqs.keys()]);
  }

  #head(gateId: GateId): GateHead {
    const seq = this.#seqs.get(gateId) ?? 1;
    const clock = { outages: [], heldSince: null, sinceBeatMs: 0, graceTo: 0 };
    const seqs = { seq, configSeq: 1, fleetSeq: 1, resetSeq: 0 };
    return { gateId, ...seqs, ...clock, now: this.#clock, lastAt: this.#clock, nextDueAt: null };
  }
}
