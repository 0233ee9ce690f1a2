/**
 * One reader of the feed for all watchers of a process: while somebody watches it polls the events of the
 * watched tenants, earlier when rung, and hands each tenant's to that tenant's watchers. What it decides is
 * only when to look; nothing is missed however late that is.
 */
import type { Database } from "@berth/db";
import type { TenantId } from "@berth/domain";
import type { Log } from "../call.ts";
import { type Place, isAfter } from "../groups/events/cursor.ts";
import { Lag } from "./lag.ts";
import { type Passing, feedNow, readTail } from "./tail.ts";

export const POLL_MS = 150;
/** However often it is rung, the database is asked no more often than this. */
const GAP_MS = 20;
/** After a failed read; doubled up to the last of these while it goes on failing. */
const RETRY_MS = 500;
const RETRY_MAX_MS = 5_000;

export interface Follower {
  readonly tenantId: TenantId;
  /** New events of the tenant, in order. */
  offer(passing: readonly Passing[]): void;
}

export class Hub {
  readonly #db: Database;
  readonly #log: Log;
  readonly #followers = new Map<TenantId, Set<Follower>>();
  readonly lag: Lag = new Lag();
  /** Everything up to here was offered; null while nobody follows. */
  #place: Place | null = null;
  #reading: Promise<void> = Promise.resolve();
  /** Set while the loop runs or is about to. */
  #started: Promise<void> | null = null;
  #running: Promise<void> = Promise.resolve();
  #rung = false;
  #wake: (() => void) | null = null;

  constructor(db: Database, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** Everything up to here was offered to whoever has joined. Null while nobody follows. */
  get place(): Place | null {
    return this.#place;
  }

  /**
   * Resolves when whatever the feed comes to show from now on will be offered: what is read of the feed after
   * that, and what is offered, leave nothing out between them.
   * @throws when the database cannot be asked where the feed stands
   */
  async join(follower: Follower): Promise<void> {
    const { tenantId } = follower;
    const others = this.#followers.get(tenantId);
    if (others) others.add(follower);
    else this.#followers.set(tenantId, new Set([follower]));
    try {
      // A read that is on its way was asked before this tenant was among the watched.
      await this.#reading;
      await (this.#started ??= this.#start());
    } catch (error) {
      this.leave(follower);
      throw error;
    }
  }

  leave(follower: Follower): void {
    const others = this.#followers.get(follower.tenantId);
    others?.delete(follower);
    if (others?.size === 0) this.#followers.delete(follower.tenantId);
    if (this.#followers.size === 0) this.ring();
  }

  /** There may be something to read. */
  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Resolves when nothing is being read; everybody has left. */
  async idle(): Promise<void> {
    this.ring();
    await this.#running;
  }

  async #start(): Promise<void> {
    try {
      this.#place = await feedNow(this.#db);
    } catch (error) {
      this.#started = null;
      throw error;
    }
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (this.#followers.size > 0) {
      this.#rung = false;
      const more = await this.#read(failures);
      failures = more === null ? failures + 1 : 0;
      if (more === true) continue;
      await this.#sleep(GAP_MS);
      const rest = more === null ? Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** failures) : POLL_MS;
      await this.#rousedOrIn(rest - GAP_MS);
    }
    this.#started = null;
    this.#place = null;
    this.lag.forget();
  }

  /** Whether there is more already; null when it failed. */
  async #read(failures: number): Promise<boolean | null> {
    const from = this.#place;
    if (!from) return null;
    const reading = readTail(this.#db, [...this.#followers.keys()], from);
    this.#reading = reading.then(
      () => undefined,
      () => undefined,
    );
    try {
      const { passing, upTo, more, newest } = await reading;
      this.#place = isAfter(upTo, from) ? upTo : from;
      this.lag.seen(this.#place, newest);
      this.#handOut(passing);
      return more;
    } catch (error) {
      // The driver's error holds parameters; its name is enough.
      const cause = error instanceof Error ? error.name : "unknown";
      if (failures === 0) this.#log.warn({ cause }, "the feed could not be read; trying again");
      return null;
    }
  }

  #handOut(passing: readonly Passing[]): void {
    const byTenant = Map.groupBy(passing, ({ tenantId }) => tenantId);
    for (const [tenantId, events] of byTenant)
      for (const follower of this.#followers.get(tenantId) ?? []) follower.offer(events);
  }

  async #rousedOrIn(ms: number): Promise<void> {
    if (this.#rung) return;
    const roused = Promise.withResolvers<void>();
    this.#wake = roused.resolve;
    const timer = setTimeout(roused.resolve, ms);
    await roused.promise;
    clearTimeout(timer);
    this.#wake = null;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}
