/**
 * One server's beat: each second it says that it is there. The database finds an outage in the time that
 * nobody did; the server finds a leap of the database's clock, by a clock of its own that only ever runs.
 */
import type { PoolStore } from "@berth/db";
import type { Random } from "./batch-turn.ts";
import type { Scheduler } from "./scheduler.ts";

export interface BeatObserver {
  /** A beat ended an outage of this length, in milliseconds; leases are raised for it. */
  outage?(ms: number): void;
  /** Whether leases have stopped lapsing because the database's clock leapt: an operator has to accept it. */
  leasesHeld?(held: boolean): void;
}

export interface HeartbeatDeps {
  readonly store: Pick<PoolStore, "beat" | "holdLeases">;
  readonly random: Random;
  readonly scheduler: Scheduler;
  /** Milliseconds of a clock that only ever goes forward. */
  readonly elapsed: () => number;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  readonly observer: BeatObserver;
  /** How often; 0 = only when it is asked to. */
  readonly beatMs: number;
}

/** A step of the database's clock forward by more than this is not believed. */
const LEAP_MS = 60_000;

export class Heartbeat {
  /** Names this process among the servers of the database. */
  readonly serverId: string;
  readonly #deps: HeartbeatDeps;
  #last: { readonly wall: number; readonly sent: number } | null = null;
  #servers: ReadonlySet<string> = new Set();
  #beating: Promise<void> | null = null;
  #loop: { readonly abort: AbortController; readonly done: Promise<void> } | null = null;
  #held = false;
  #failing = false;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
    this.serverId = `srv_${Buffer.from(deps.random(10)).toString("hex")}`;
  }

  /** Whether that server was there in the last seconds, as of this one's last beat. */
  isServing(serverId: string): boolean {
    return serverId === this.serverId || this.#servers.has(serverId);
  }

  /** Beats now; whoever asks meanwhile shares it. */
  beat(): Promise<void> {
    return (this.#beating ??= this.#beat().finally(() => {
      this.#beating = null;
    }));
  }

  start(): void {
    const { beatMs } = this.#deps;
    if (this.#loop || beatMs <= 0) return;
    const abort = new AbortController();
    this.#loop = { abort, done: this.#every(beatMs, abort.signal) };
  }

  async stop(): Promise<void> {
    const loop = this.#loop;
    this.#loop = null;
    loop?.abort.abort();
    await loop?.done;
  }

  async #every(ms: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.beat().then(
        () => this.#worked(true),
        () => this.#worked(false),
      );
      await this.#deps.scheduler.delay(ms, { signal, ref: false });
    }
  }

  async #beat(): Promise<void> {
    const { store, elapsed, log, observer } = this.#deps;
    const sent = elapsed();
    const { wall, heldSince, outageMs, servers } = await store.beat(this.serverId);
    this.#servers = new Set(servers);
    if (outageMs !== null) {
      observer.outage?.(outageMs);
      log.warn({ outageMs }, "nobody could renew a lease for a while: leases are raised for it");
    }
    const last = this.#last;
    // The longest that can have passed, so that a slow answer is no leap.
    const leapt = last !== null && wall - last.wall - (elapsed() - last.sent) > LEAP_MS;
    if (leapt) await store.holdLeases(last.wall);
    this.#last = { wall, sent };
    this.#mindHold(leapt || heldSince !== null);
  }

  #mindHold(held: boolean): void {
    const { log, observer } = this.#deps;
    observer.leasesHeld?.(held);
    if (held !== this.#held) {
      if (held)
        log.error(
          {},
          "the database's clock leapt forward: leases have stopped lapsing; set the clock right, " +
            "then run `berth clock accept`",
        );
      else log.info({}, "the clock was accepted: leases lapse again");
    }
    this.#held = held;
  }

  #worked(worked: boolean): void {
    if (!worked && !this.#failing)
      this.#deps.log.warn({}, "the beat failed; it is tried again each second");
    this.#failing = !worked;
  }
}
