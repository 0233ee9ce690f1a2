/**
 * What a process holds of one pool: its state at the newest sequence it knows. Kept up to date by reading
 * the rows above that sequence, and by the batches that this process wrote itself. Between two awaits the
 * state is always a committed one.
 */
import type { GateBatch, GateHead, PoolStore } from "@berth/db";
import { type GateId, PoolState } from "@berth/domain";
import { Mutex } from "./mutex.ts";

/** The reads that a connection under the pool's lock offers, too. */
export type PoolReads = Pick<PoolStore, "head" | "load" | "delta">;

export interface View {
  readonly state: PoolState;
  readonly seq: number;
  /** The pool's clock: the database's, never running back. */
  readonly now: number;
  /** False while the gate is not there yet. */
  readonly exists: boolean;
}

export class PoolCache {
  readonly #gateId: GateId;
  readonly #store: PoolStore;
  readonly #refreshing = new Mutex();
  #held: { state: PoolState; head: GateHead } | null = null;

  constructor(gateId: GateId, store: PoolStore) {
    this.#gateId = gateId;
    this.#store = store;
  }

  /**
   * Where the pool stands now; null when there is no such gate.
   * @param through what to read through, when the pool's lock is held by one connection
   */
  refresh(through: PoolReads = this.#store): Promise<View | null> {
    return this.#refreshing.run(async () => {
      if (!this.#held) return this.#load(through);
      const head = await through.head(this.#gateId);
      // Looked at again: a batch of ours may have ended, or been refused, in the meantime.
      const held = this.#held;
      if (!held || !head) return this.#load(through);
      if (head.seq <= held.head.seq) return this.newest(head.now);
      return head.resetSeq <= held.head.seq
        ? this.#catchUp(through, held.head)
        : this.#load(through);
    });
  }

  /** An empty state for the command that makes the gate. */
  async blank(): Promise<View> {
    const now = await this.#store.now();
    const empty = { gateId: this.#gateId, config: null, nodes: [], reservations: [] };
    return { state: PoolState.load(empty), seq: 0, now, exists: false };
  }

  /** Does a batch again that the database has taken. */
  commit(planned: View, seq: number, batch: Pick<GateBatch, "changes" | "nextDueAt">): void {
    const held = this.#held;
    if (!held || held.head.seq >= seq) return;
    // Units get their keys from the database and a node may have left: read those rows back instead.
    const readBack = batch.changes.some((change) => change.kind === "node");
    if (readBack || held.state !== planned.state || held.head.seq !== planned.seq) return;
    for (const change of batch.changes) held.state.apply(change);
    const configSeq = batch.changes.some((change) => change.kind === "config")
      ? seq
      : held.head.configSeq;
    this.#held = {
      state: held.state,
      head: { ...held.head, seq, configSeq, lastAt: planned.now, nextDueAt: batch.nextDueAt },
    };
  }

  /**
   * What is held at this very moment: at least as new as the refresh that was awaited, which another one
   * may have overtaken before its caller got to look.
   */
  newest(databaseNow: number): View | null {
    const held = this.#held;
    if (!held) return null;
    const now = Math.max(databaseNow, held.head.lastAt);
    return { state: held.state, seq: held.head.seq, now, exists: true };
  }

  /** Whether this is still the newest state that the process knows. */
  isAt(view: View): boolean {
    return this.#held?.state === view.state && this.#held.head.seq === view.seq;
  }

  /** Forgets everything; the next refresh loads. */
  drop(): void {
    this.#held = null;
  }

  async #load(through: PoolReads): Promise<View | null> {
    const loaded = await through.load(this.#gateId);
    if (!loaded) {
      this.#held = null;
      return null;
    }
    const { head, snapshot } = loaded;
    this.#held = { state: PoolState.load(snapshot), head };
    return this.newest(head.now);
  }

  async #catchUp(through: PoolReads, since: GateHead): Promise<View | null> {
    const delta = await through.delta(this.#gateId, since);
    if (delta.reset) return this.#load(through);
    const held = this.#held;
    if (!held) return this.#load(through);
    if (delta.head.seq > held.head.seq) {
      held.state.absorb(delta);
      this.#held = { state: held.state, head: delta.head };
    }
    return this.newest(delta.head.now);
  }
}
