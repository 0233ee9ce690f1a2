/**
 * What a process holds of one pool: its state at the newest sequence it knows. Kept up to date by reading
 * the rows above that sequence, and by the batches that this process wrote itself. Between two awaits the
 * state is always a committed one.
 */
import type { GateBatch, GateHead, PoolStore } from "@berth/db";
import { type GateId, type LeaseClock, PoolState, type StateDelta } from "@berth/domain";
import { Mutex } from "./mutex.ts";

/** The reads that a connection under the pool's lock offers, too. */
export type PoolReads = Pick<PoolStore, "head" | "load" | "delta">;

/** A head whose last beat is older than this may hide an outage: the gate's SQL judges by the same figure. */
const BEAT_LATE_MS = 3_000;

/** Nobody has beaten for a while: whoever does first may find an outage, which the next head tells of. */
const TOO_LATE = Symbol("too late");

function isTooLate({ sinceBeatMs }: GateHead): boolean {
  return sinceBeatMs > BEAT_LATE_MS;
}

export interface View {
  readonly state: PoolState;
  readonly seq: number;
  /** The pool's clock: the database's, never running back. */
  readonly now: number;
  /** False while the gate is not there yet. */
  readonly exists: boolean;
  /** What has to be minded before a lease lapses; planning starts with `applyGrace`. */
  readonly clock: LeaseClock;
}

export class PoolCache {
  readonly #gateId: GateId;
  readonly #store: PoolStore;
  readonly #beat: () => Promise<void>;
  readonly #refreshing = new Mutex();
  #held: { state: PoolState; head: GateHead } | null = null;

  /** @param beat says that this server is there, and so finds the outage that it ends */
  constructor(gateId: GateId, store: PoolStore, beat: () => Promise<void>) {
    this.#gateId = gateId;
    this.#store = store;
    this.#beat = beat;
  }

  /**
   * Where the pool stands now; null when there is no such gate.
   * @param through what to read through, when the pool's lock is held by one connection
   */
  refresh(through: PoolReads = this.#store): Promise<View | null> {
    return this.#refreshing.run(async () => {
      for (;;) {
        const looked = await this.#look(through);
        if (looked !== TOO_LATE) return looked;
        // Once may not be enough: a beat that was on its way already tells of a time before the outage.
        await this.#beat();
      }
    });
  }

  /** An empty state for the command that makes the gate. */
  async blank(): Promise<View> {
    const now = await this.#store.now();
    const state = PoolState.load({
      gateId: this.#gateId,
      config: null,
      nodes: [],
      reservations: [],
      unitReservations: [],
      waiters: [],
    });
    return { state, seq: 0, now, exists: false, clock: { outages: [], heldSince: null } };
  }

  /** Does a batch again that the database has taken. */
  commit(
    planned: View,
    seq: number,
    batch: Pick<GateBatch, "changes" | "nextDueAt" | "graceTo">,
  ): void {
    const held = this.#held;
    if (!held || held.head.seq >= seq) return;
    // Units get their keys from the database and a node may have left: read those rows back instead.
    const readBack = batch.changes.some((change) => change.kind === "node");
    if (readBack || held.state !== planned.state || held.head.seq !== planned.seq) return;
    this.#absorb(held.state, rowsAfter(batch.changes));
    const configSeq = batch.changes.some((change) => change.kind === "config")
      ? seq
      : held.head.configSeq;
    const graceTo = Math.max(held.head.graceTo, batch.graceTo ?? 0);
    const outages = held.head.outages.filter(({ to }) => to > graceTo);
    const { nextDueAt } = batch;
    this.#held = {
      state: held.state,
      head: { ...held.head, seq, configSeq, lastAt: planned.now, nextDueAt, graceTo, outages },
    };
  }

  /**
   * What is held at this very moment: at least as new as the refresh that was awaited, which another one
   * may have overtaken before its caller got to look.
   */
  newest(databaseNow: number): View | null {
    const held = this.#held;
    if (!held) return null;
    const { seq, lastAt, outages, heldSince } = held.head;
    const now = Math.max(databaseNow, lastAt);
    return { state: held.state, seq, now, exists: true, clock: { outages, heldSince } };
  }

  /** Whether this is still the newest state that the process knows. */
  isAt(view: View): boolean {
    return this.#held?.state === view.state && this.#held.head.seq === view.seq;
  }

  /** Forgets everything; the next refresh loads. */
  drop(): void {
    this.#held = null;
  }

  async #look(through: PoolReads): Promise<View | null | typeof TOO_LATE> {
    if (!this.#held) return this.#load(through);
    const head = await through.head(this.#gateId);
    // Looked at again: a batch of ours may have ended, or been refused, in the meantime.
    const held = this.#held;
    if (!held || !head) return this.#load(through);
    if (isTooLate(head)) return TOO_LATE;
    if (head.seq <= held.head.seq) return this.#sameAt(held, head);
    return head.resetSeq <= held.head.seq ? this.#catchUp(through, held.head) : this.#load(through);
  }

  /** An outage moves no sequence: what the head tells of it is taken all the same. */
  #sameAt(held: { state: PoolState; head: GateHead }, head: GateHead): View | null {
    const outages = head.outages.filter(({ to }) => to > held.head.graceTo);
    this.#held = {
      state: held.state,
      head: { ...held.head, outages, heldSince: head.heldSince },
    };
    return this.newest(head.now);
  }

  async #load(through: PoolReads): Promise<View | null | typeof TOO_LATE> {
    const loaded = await through.load(this.#gateId);
    if (!loaded) {
      this.#held = null;
      return null;
    }
    if (isTooLate(loaded.head)) return TOO_LATE;
    const { head, snapshot } = loaded;
    this.#held = { state: PoolState.load(snapshot), head };
    return this.newest(head.now);
  }

  async #catchUp(through: PoolReads, since: GateHead): Promise<View | null | typeof TOO_LATE> {
    const delta = await through.delta(this.#gateId, since);
    if (isTooLate(delta.head)) return TOO_LATE;
    if (delta.reset) return this.#load(through);
    const held = this.#held;
    if (!held) return this.#load(through);
    // Our own batch was faster: its rows are newer than these, the time is not.
    if (delta.head.seq <= held.head.seq) return this.#sameAt(held, delta.head);
    this.#absorb(held.state, delta);
    this.#held = { state: held.state, head: delta.head };
    return this.newest(delta.head.now);
  }

  /** Rows that do not go with the state are a fault, and what is left of it is no state: the next look loads. */
  #absorb(state: PoolState, delta: StateDelta): void {
    try {
      state.absorb(delta);
    } catch (error) {
      this.drop();
      throw error;
    }
  }
}

/**
 * What a batch left of each row. A batch keeps one change a row, so their order is not that in which they were
 * made: whoever took over what another let go may come first.
 */
function rowsAfter(changes: GateBatch["changes"]): StateDelta {
  const config = changes.find((change) => change.kind === "config")?.after ?? null;
  return {
    config,
    nodes: [],
    reservations: changes.flatMap((c) => (c.kind === "reservation" ? [c.after] : [])),
    unitReservations: changes.flatMap((c) =>
      c.kind === "unitReservation" && c.after !== null ? [c.after] : [],
    ),
    waiters: changes.flatMap((c) => {
      const id = c.kind === "waiter" ? (c.after ?? c.before)?.id : undefined;
      return c.kind === "waiter" && id !== undefined ? [{ id, waiter: c.after }] : [];
    }),
  };
}
