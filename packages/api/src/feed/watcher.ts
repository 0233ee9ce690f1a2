/**
 * One reader of one tenant's events: first what it has missed, page by page from the database, then what the
 * hub offers. It keeps the place up to which it has taken everything, so what both of them bring is taken
 * once. What waits for a reader is bounded: past that it is dropped, and read again when the reader gets there.
 */
import type { Database } from "@berth/db";
import {
  type Place,
  decodeEventCursor,
  encodeEventCursor,
  isAfter,
} from "../groups/events/cursor.ts";
import { type FeedAsk, readFeed } from "../groups/events/feed.ts";
import type { FeedEvent } from "../groups/events/feed.ts";
import type { Follower, Hub } from "./hub.ts";
import type { Passing } from "./tail.ts";

/** Events that wait in memory for one reader at most. */
export const WAITING_MAX = 1_000;
/** A reader that asks for nothing for this long is let go; with its last id it can come back. */
export const STALLED_MS = 10_000;
/** A sign of life, and how far it has come, this often when nothing happens: proxies hang up after 30 s. */
export const MARK_MS = 15_000;
const PAGE = 200;

/** `event` null: nothing happened; the cursor says how far the stream has come. */
export interface Step {
  readonly cursor: string;
  readonly event: FeedEvent | null;
}

/** Why a stream ends that its reader did not leave. */
export type EndReason = "slow" | "stopping" | "key" | "failed";

/** The end of a stream that is to be opened again; transports just close, as for any aborted answer. */
export class StreamEnd extends Error {
  readonly reason: EndReason;

  constructor(reason: EndReason) {
    super(`the stream ends: ${reason}`);
    this.name = "AbortError";
    this.reason = reason;
  }
}

interface Waiting {
  readonly place: Place;
  readonly step: Step;
}

export interface WatcherOptions {
  readonly db: Database;
  readonly hub: Hub;
  readonly epoch: string;
  readonly ask: Omit<FeedAsk, "limit">;
  readonly from: Place;
  /** Called once, when it is over for whatever reason. */
  onEnd(): void;
}

export class Watcher implements Follower, AsyncIterableIterator<Step, undefined> {
  readonly tenantId: string;
  readonly #options: WatcherOptions;
  /** What is next to be handed out. */
  #ready: Waiting[];
  /** Offered while older events are still being read. */
  #held: Passing[] = [];
  /** Everything asked for up to here is handed out or ready. */
  #place: Place;
  /** Everything asked for up to here is handed out. */
  #handedOut: Place;
  /** When the reader was last given something; null while it waits for more. */
  #givenAt: number | null;
  #stage: "behind" | "joining" | "live" = "behind";
  #over: { readonly error: Error | null } | null = null;
  #wake: (() => void) | null = null;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.tenantId = options.ask.tenantId;
    this.#place = options.from;
    this.#handedOut = options.from;
    this.#givenAt = performance.now();
    // Whoever breaks off before the first event knows where to go on, too.
    this.#ready = [this.#mark()];
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** How long the reader has asked for nothing, milliseconds. */
  get stalledMs(): number {
    return this.#givenAt === null ? 0 : performance.now() - this.#givenAt;
  }

  async next(): Promise<IteratorResult<Step, undefined>> {
    this.#givenAt = null;
    for (;;) {
      if (this.#over?.error) throw this.#over.error;
      if (this.#over) return { done: true, value: undefined };
      const waiting = this.#ready.shift();
      if (waiting) {
        this.#handedOut = waiting.place;
        this.#givenAt = performance.now();
        return { done: false, value: waiting.step };
      }
      if (this.#stage === "live") await this.#somethingHappens();
      else await this.#readOn().catch((error: Error) => this.end(error));
    }
  }

  return(): Promise<IteratorResult<Step, undefined>> {
    this.end(null);
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Ends it at once, what is ready included; with an error its reader is told. Again changes nothing. */
  end(error: Error | null): void {
    if (this.#over) return;
    this.#over = { error };
    this.#ready = [];
    this.#held = [];
    this.#options.hub.leave(this);
    this.#wake?.();
    this.#options.onEnd();
  }

  offer(passing: readonly Passing[]): void {
    if (this.#over || this.#stage === "behind") return;
    const wanted = passing.filter((each) => this.#wants(each));
    if (this.#ready.length + this.#held.length + wanted.length > WAITING_MAX)
      return this.#fallBehind();
    if (this.#stage === "joining") this.#held.push(...wanted);
    else this.#take(wanted);
  }

  #wants({ event, reservationId }: Passing): boolean {
    const { ask } = this.#options;
    if (ask.poolId && event.poolId !== ask.poolId) return false;
    if (ask.reservationId && reservationId !== ask.reservationId) return false;
    return !ask.poolIds || ask.poolIds.some((poolId) => poolId === event.poolId);
  }

  /** The database keeps what would wait, at the cost of reading it twice. */
  #fallBehind(): void {
    this.#options.hub.leave(this);
    this.#ready = [];
    this.#held = [];
    this.#place = this.#handedOut;
    this.#stage = "behind";
  }

  /** A page of what was missed; after the last one the hub takes over. */
  async #readOn(): Promise<void> {
    const { db, hub, ask } = this.#options;
    const stage = this.#stage;
    const page = await readFeed(db, { ...ask, limit: PAGE }, this.#place);
    // Too much was offered meanwhile: the page is read again.
    if (this.#over || this.#stage !== stage) return;
    this.#ready.push(...page.events.map((event) => this.#stepOf(event)));
    this.#place = page.upTo ?? this.#place;
    if (page.next) return;
    if (this.#stage === "behind") {
      // One more page follows: what came between this one and joining.
      this.#stage = "joining";
      await hub.join(this);
      return;
    }
    this.#stage = "live";
    this.#take(this.#held.splice(0));
  }

  #take(passing: readonly Passing[]): void {
    for (const { place, event } of passing) {
      if (!isAfter(place, this.#place)) continue;
      this.#place = place;
      this.#ready.push({ place, step: { cursor: event.cursor, event } });
    }
    if (this.#ready.length > 0) this.#wake?.();
  }

  async #somethingHappens(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(() => {
      this.#ready.push(this.#mark());
      resolve();
    }, MARK_MS);
    await promise;
    clearTimeout(timer);
    this.#wake = null;
  }

  /** Nothing waits: everything up to where the hub stands was looked at. */
  #mark(): Waiting {
    const { epoch, hub } = this.#options;
    const shown = this.#stage === "live" ? hub.place : null;
    if (shown && isAfter(shown, this.#place)) this.#place = shown;
    const place = this.#place;
    return { place, step: { cursor: encodeEventCursor(epoch, place), event: null } };
  }

  #stepOf(event: FeedEvent): Waiting {
    const place = decodeEventCursor(this.#options.epoch, event.cursor);
    return { place, step: { cursor: event.cursor, event } };
  }
}
