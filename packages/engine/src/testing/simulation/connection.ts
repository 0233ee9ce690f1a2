/**
 * One server's way to the database: every question and answer takes its time, and may be lost on it. What
 * a dead server had sent may still arrive; what is answered to it reaches nobody.
 */
import type { ApplyOutcome, GateWrite, LockedGate, PoolStore, StoreFailure } from "@berth/db";
import type { GateId } from "@berth/domain";
import { type MemoryStore, StoreError } from "../memory-store.ts";
import type { Seeded } from "../seeded.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What became of a write on its way. */
export type Mishap =
  | "transient"
  | "lost-before"
  | "lost-after"
  | "straggler"
  | "slow"
  | "refused"
  | "dead";

export interface Network {
  readonly store: MemoryStore;
  readonly time: VirtualTime;
  readonly random: Seeded;
  /** How likely a statement meets with a mishap. */
  rate: number;
  readonly mishaps: Map<Mishap, number>;
}

/** A session that does nothing inside its transaction is ended after this long. */
const IDLE_IN_TRANSACTION_MS = 5_000;
const WRITES: readonly Mishap[] = ["transient", "lost-before", "lost-after", "straggler", "slow"];

const never = (): Promise<never> => new Promise(() => undefined);

export class Connection implements PoolStore {
  readonly #network: Network;
  readonly #open = new Set<(error: Error) => void>();
  #dead = false;
  #stoppedUntil = 0;

  constructor(network: Network) {
    this.#network = network;
  }

  /** From now on nothing that comes back is heard. */
  die(): void {
    this.#dead = true;
    for (const lose of this.#open) lose(new StoreError({ kind: "transient" }));
  }

  /** The process does nothing for a while, then goes on as if nothing had been. */
  stopFor(ms: number): void {
    this.#stoppedUntil = this.#network.time.now + ms;
  }

  failureOf(error: unknown): StoreFailure {
    return this.#network.store.failureOf(error);
  }

  now = (): Promise<number> => this.#ask(() => this.#network.store.now());
  head: PoolStore["head"] = (id) => this.#ask(() => this.#network.store.head(id));
  load: PoolStore["load"] = (id) => this.#ask(() => this.#network.store.load(id));
  delta: PoolStore["delta"] = (id, since) => this.#ask(() => this.#network.store.delta(id, since));
  stored: PoolStore["stored"] = (id) => this.#ask(() => this.#network.store.stored(id));
  due: PoolStore["due"] = (limit) => this.#ask(() => this.#network.store.due(limit));
  dueAmong: PoolStore["dueAmong"] = (ids) => this.#ask(() => this.#network.store.dueAmong(ids));
  beat: PoolStore["beat"] = (id) => this.#ask(() => this.#network.store.beat(id));
  holdLeases: PoolStore["holdLeases"] = (since) =>
    this.#ask(() => this.#network.store.holdLeases(since));
  pools: PoolStore["pools"] = () => this.#ask(() => this.#network.store.pools());
  outcome: PoolStore["outcome"] = (id, batchId) =>
    this.#ask(() => this.#network.store.outcome(id, batchId));

  apply(write: GateWrite, now: number): Promise<ApplyOutcome> {
    return this.#send(() => this.#network.store.apply(write, now), isLarge(write));
  }

  applyPair(a: GateWrite, b: GateWrite, now: number): Promise<ApplyOutcome> {
    return this.#send(() => this.#network.store.applyPair(a, b, now), false);
  }

  async locked<T>(gateId: GateId, work: (locked: LockedGate) => Promise<T>): Promise<T> {
    const { store, time } = this.#network;
    await this.#there();
    // Its transaction would be undone, and its lock be free, as soon as the database looks.
    if (this.#dead) return never();
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => undefined);
    this.#open.add(lost.reject);
    const trip = async <R>(statement: () => Promise<R>): Promise<R> => {
      const asked = time.now;
      await this.#there();
      if (time.now - asked > IDLE_IN_TRANSACTION_MS) lost.reject(transient());
      const value = await statement();
      await this.#back();
      return value;
    };
    const mishap = this.#draw(["lost-before", "lost-after"]);
    const committing = async (): Promise<void> => {
      await this.#there();
      if (mishap === "lost-before") throw unknown();
    };
    try {
      const value = await store.locked(
        gateId,
        (gate) =>
          work({
            head: (id) => trip(() => gate.head(id)),
            load: (id) => trip(() => gate.load(id)),
            delta: (id, since) => trip(() => gate.delta(id, since)),
            apply: (seq, now, batch) => trip(() => gate.apply(seq, now, batch)),
          }),
        { lost: lost.promise, committing },
      );
      if (mishap === "lost-after") throw unknown();
      return await this.#back(value);
    } catch (error) {
      await this.#back();
      throw error;
    } finally {
      this.#open.delete(lost.reject);
    }
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    await this.#there();
    if (this.#draw(["transient"])) {
      await this.#back();
      throw transient();
    }
    const answer = await question();
    if (this.#draw(["slow"])) await this.#network.time.pause(this.#below(2_000));
    return this.#back(answer);
  }

  async #send(write: () => Promise<ApplyOutcome>, refusable: boolean): Promise<ApplyOutcome> {
    const { time } = this.#network;
    const mishap = this.#draw(refusable ? [...WRITES, "refused"] : WRITES);
    if (mishap === "slow") await time.pause(this.#below(3_000));
    await this.#there();
    if (mishap === "straggler") {
      const late = this.#below(2) === 0 ? this.#below(10) : this.#below(4_000);
      time.after(late, () => void write().catch(() => undefined));
    }
    if (mishap !== null && mishap !== "lost-after" && mishap !== "slow") {
      await this.#back();
      if (mishap === "refused") throw new StoreError({ kind: "violation", sqlState: "22000" });
      throw mishap === "transient" ? transient() : unknown();
    }
    const answer = await write();
    await this.#back();
    if (mishap === "lost-after") throw unknown();
    return answer;
  }

  async #there(): Promise<void> {
    await this.#trip();
    // Sent before its end: it arrives, or it does not.
    if (this.#dead && this.#below(2) === 0) return never();
  }

  async #back(): Promise<void>;
  async #back<T>(answer: T): Promise<T>;
  async #back<T>(answer?: T): Promise<T | undefined> {
    await this.#trip();
    if (this.#dead) return never();
    return answer;
  }

  async #trip(): Promise<void> {
    const { time, random } = this.#network;
    await time.pause(random.below(4));
    if (this.#stoppedUntil > time.now) await time.pause(this.#stoppedUntil - time.now);
  }

  #draw(among: readonly Mishap[]): Mishap | null {
    const { random, rate, mishaps } = this.#network;
    if (random.next() >= rate) return null;
    const mishap = among[random.below(among.length)] ?? null;
    if (mishap) mishaps.set(mishap, (mishaps.get(mishap) ?? 0) + 1);
    return mishap;
  }

  #below(n: number): number {
    return this.#network.random.below(n);
  }
}

/** Only a batch of several commands is refused now and then: it is halved, and its parts are written. */
function isLarge({ batch }: GateWrite): boolean {
  return batch.changes.length > 2;
}

const transient = (): StoreError => new StoreError({ kind: "transient" });
const unknown = (): StoreError => new StoreError({ kind: "unknown" });
