/**
 * The live feed of one process: who watches, how many may, and how it all ends. Behind it one hub reads the
 * database for everybody, and a doorbell tells it when to look.
 */
import type { Database } from "@berth/db";
import type { Log } from "../call.ts";
import { ApiError } from "../errors.ts";
import { decodeEventCursor, epochOf } from "../groups/events/cursor.ts";
import { type FeedAsk, checkKept } from "../groups/events/feed.ts";
import { createDoorbell } from "./doorbell.ts";
import { Hub } from "./hub.ts";
import { feedNow } from "./tail.ts";
import { type EndReason, STALLED_MS, StreamEnd, Watcher } from "./watcher.ts";

/** Open streams of one principal in one process. */
export const STREAMS_A_PRINCIPAL = 256;
/** Open streams of one process. */
export const STREAMS_MAX = 5_000;
/** How often it is asked whether the caller still may. */
export const RECHECK_MS = 750;

export interface WatchAsk extends Omit<FeedAsk, "limit"> {
  /** Where to go on; absent: now. */
  readonly cursor?: string | undefined;
}

export interface WatchCaller {
  /** Whose streams are counted. */
  readonly principalId: string;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal | undefined;
  /** Whether the caller still may; asked again and again while the stream is open. @throws ApiError */
  recheck(): Promise<void>;
  /** Hangs up on a caller who does not read. */
  hangUp(): void;
}

export interface FeedFigures {
  readonly streams: number;
  /** How far the feed is behind the newest commit; 0 while nobody watches. */
  readonly lagMs: number;
  /** Streams that ended without their reader's doing, by reason. */
  readonly ended: Readonly<Record<EndReason, number>>;
}

export interface Feed {
  /** @throws ApiError INVALID_INPUT, CURSOR_EXPIRED, RATE_LIMITED, UNAVAILABLE */
  watch(ask: WatchAsk, caller: WatchCaller): Promise<Watcher>;
  /** Something was committed by this process. */
  announce(): void;
  figures(): FeedFigures;
  /** Ends every stream, so that its reader comes back elsewhere; no new ones open. */
  drain(): void;
  stop(): Promise<void>;
}

export function createFeed(db: Database, log: Log): Feed {
  return new ProcessFeed(db, log);
}

class ProcessFeed implements Feed {
  readonly #db: Database;
  readonly #log: Log;
  readonly #hub: Hub;
  readonly #bell: ReturnType<typeof createDoorbell>;
  readonly #open = new Set<Watcher>();
  readonly #counts = new Map<string, number>();
  readonly #ended: Record<EndReason, number> = { slow: 0, stopping: 0, key: 0, failed: 0 };
  #draining = false;

  constructor(db: Database, log: Log) {
    this.#db = db;
    this.#log = log;
    this.#hub = new Hub(db, log);
    this.#bell = createDoorbell(db, () => this.#hub.ring());
  }

  async watch(ask: WatchAsk, caller: WatchCaller): Promise<Watcher> {
    const { cursor, ...wanted } = ask;
    const release = this.#admit(caller.principalId);
    try {
      const epoch = await epochOf(this.#db);
      const given = cursor === undefined ? null : decodeEventCursor(epoch, cursor, "lastEventId");
      if (given) await checkKept(this.#db, ask.tenantId, given);
      const from = given ?? (await feedNow(this.#db));
      this.#bell.open();
      return this.#start(caller, release, { epoch, from, ask: wanted });
    } catch (error) {
      release();
      throw error;
    }
  }

  announce(): void {
    this.#hub.ring();
    this.#bell.ring();
  }

  figures(): FeedFigures {
    return { streams: this.#open.size, lagMs: this.#hub.lag.ms(), ended: { ...this.#ended } };
  }

  drain(): void {
    this.#draining = true;
    for (const watcher of this.#open) this.#end(watcher, new StreamEnd("stopping"));
  }

  async stop(): Promise<void> {
    this.drain();
    await Promise.all([this.#bell.close(), this.#hub.idle()]);
  }

  /** Takes a place among the open streams; the answer gives it back. */
  #admit(principalId: string): () => void {
    const total = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    if (this.#draining || total >= STREAMS_MAX)
      throw new ApiError("UNAVAILABLE", { message: "This server takes no more streams now." });
    const count = this.#counts.get(principalId) ?? 0;
    if (count >= STREAMS_A_PRINCIPAL)
      throw new ApiError("RATE_LIMITED", {
        message: `You have ${count} streams open on this server, and more are not allowed: close some.`,
      });
    this.#counts.set(principalId, count + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.#counts.get(principalId) ?? 1) - 1;
      if (left > 0) this.#counts.set(principalId, left);
      else this.#counts.delete(principalId);
    };
  }

  #start(
    caller: WatchCaller,
    release: () => void,
    start: Pick<ConstructorParameters<typeof Watcher>[0], "ask" | "epoch" | "from">,
  ): Watcher {
    const { signal } = caller;
    const gone = (): void => watcher.end(null);
    const watcher = new Watcher({
      ...start,
      db: this.#db,
      hub: this.#hub,
      onEnd: () => {
        clearInterval(timer);
        signal?.removeEventListener("abort", gone);
        this.#open.delete(watcher);
        release();
      },
    });
    let asking = false;
    const timer = setInterval(() => {
      if (watcher.stalledMs > STALLED_MS) return this.#letGo(watcher, caller);
      if (asking) return;
      asking = true;
      void this.#recheck(watcher, caller).finally(() => (asking = false));
    }, RECHECK_MS);
    timer.unref();
    this.#open.add(watcher);
    if (signal?.aborted) gone();
    else signal?.addEventListener("abort", gone);
    if (this.#draining) this.#end(watcher, new StreamEnd("stopping"));
    return watcher;
  }

  /** Its answer is stuck half-way: it can only be cut. */
  #letGo(watcher: Watcher, caller: WatchCaller): void {
    this.#end(watcher, new StreamEnd("slow"), "slow");
    caller.hangUp();
  }

  async #recheck(watcher: Watcher, caller: WatchCaller): Promise<void> {
    try {
      await caller.recheck();
    } catch (error) {
      const refused = error instanceof ApiError && error.code !== "UNAVAILABLE";
      // Nobody knows whether the caller still may: to be asked again by a new stream.
      this.#end(watcher, refused ? error : new StreamEnd("failed"), refused ? "key" : "failed");
    }
  }

  #end(watcher: Watcher, error: Error, reason: EndReason = "stopping"): void {
    if (!this.#open.has(watcher)) return;
    this.#ended[reason] += 1;
    this.#log.info({ reason }, "a stream was ended");
    watcher.end(error);
  }
}
