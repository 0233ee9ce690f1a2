/**
 * The callers of this process who wait for room. What decides is the waiter's row, which any server may
 * serve: here is only who has to be told. Nothing is held for a caller but its entry in a map; one look a
 * pool and tenth of a second, whoever waits there, tells what became of all of them.
 */
import type { Failpoint } from "@berth/db";
import {
  type GateId,
  type ReservationId,
  type Waiter,
  ok,
  serveWaiters,
  stopWaiting,
} from "@berth/domain";
import { Cancelled, Unavailable } from "./errors.ts";
import type { View } from "./pool-cache.ts";
import type { Command, EngineLog } from "./types.ts";
import type { PoolRunner } from "./pool-runner.ts";
import type { Scheduler } from "./scheduler.ts";

/** `over`: it waits no more and was not served, or what it got has ended since. */
export type Waited = "served" | "over";

export interface Wait {
  readonly waiter: Waiter;
  /** The sequence of the batch that put it in line: nothing older knows of it. */
  readonly since: number;
}

export interface WaitsHost {
  readonly log: EngineLog;
  readonly elapsed: () => number;
  readonly scheduler: Scheduler;
  readonly failpoint: Failpoint | undefined;
  runner(gateId: GateId): PoolRunner;
  /** The newest view, with nothing due in it; null when there is no such pool. */
  settled(gateId: GateId): Promise<View | null>;
}

interface Caller extends Wait {
  /** By this process's own clock: when its time is over even if the database cannot be asked. */
  readonly overAt: number;
  resolve(became: Waited): void;
  reject(error: Error): void;
}

interface Lane {
  readonly gateId: GateId;
  readonly callers: Map<ReservationId, Caller>;
  /** Others' writes up to this sequence were followed by a try of ours. */
  triedSeq: number;
  watched: boolean;
  wake: AbortController;
}

const LOOK_MS = 100;
/** A database that cannot be asked may come back; its callers wait this much longer to be told. */
const LATE_MS = 2_000;
const SHUTTING_DOWN = "the server is shutting down; try again";

/** Tries those who wait, also where the write that made room did not know that their server is there. */
const TRY: Command<null> = {
  name: "serve waiters",
  tenantId: "",
  plan(turn) {
    serveWaiters(turn);
    return ok(null);
  },
};

export class Waits {
  readonly #host: WaitsHost;
  readonly #lanes = new Map<GateId, Lane>();
  #ended = false;

  constructor(host: WaitsHost) {
    this.#host = host;
  }

  /**
   * @throws Cancelled when the signal fired and the waiter is taken away; it may have been served before
   * @throws Unavailable when this server stops, or the database cannot be asked
   */
  wait(wait: Wait, signal?: AbortSignal): Promise<Waited> {
    const { poolId, id, since, deadline } = wait.waiter;
    return new Promise((resolve, reject) => {
      const overAt = this.#host.elapsed() + (deadline - since) + LATE_MS;
      const lane = this.#lane(poolId);
      const gone = (): void => {
        if (lane.callers.get(id) !== caller) return;
        // Not before: whoever was told that it does not wait any more must not be served after that.
        void this.#takeAway(lane, [caller]).then(() => caller.reject(new Cancelled()));
      };
      const forget = (): void => {
        signal?.removeEventListener("abort", gone);
        lane.callers.delete(id);
      };
      const caller: Caller = {
        ...wait,
        overAt,
        resolve: (became) => (forget(), resolve(became)),
        reject: (error) => (forget(), reject(error)),
      };
      lane.callers.set(id, caller);
      if (!lane.watched) void this.#watch(lane);
      if (signal?.aborted) gone();
      else signal?.addEventListener("abort", gone, { once: true });
      if (this.#ended) void this.#end(lane);
    });
  }

  /** How many callers wait. */
  get size(): number {
    return [...this.#lanes.values()].reduce((sum, { callers }) => sum + callers.size, 0);
  }

  /** Something was written to the pool by this process: perhaps for one of them. */
  written(gateId: GateId): void {
    this.#lanes.get(gateId)?.wake.abort();
  }

  /** Nobody waits here any more: who was not served is told to ask again, and its waiter is taken away. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all([...this.#lanes.values()].map((lane) => this.#end(lane)));
  }

  #lane(gateId: GateId): Lane {
    const known = this.#lanes.get(gateId);
    if (known) return known;
    const wake = new AbortController();
    const lane: Lane = { gateId, callers: new Map(), triedSeq: 0, watched: false, wake };
    this.#lanes.set(gateId, lane);
    return lane;
  }

  async #watch(lane: Lane): Promise<void> {
    lane.watched = true;
    while (lane.callers.size > 0) {
      lane.wake = new AbortController();
      await this.#look(lane).catch((error: unknown) => this.#cannotLook(lane, error));
      if (lane.callers.size > 0)
        await this.#host.scheduler.delay(LOOK_MS, { signal: lane.wake.signal });
    }
    lane.watched = false;
  }

  async #look(lane: Lane): Promise<void> {
    const runner = this.#host.runner(lane.gateId);
    let view = await this.#host.settled(lane.gateId);
    if (view && view.seq > Math.max(lane.triedSeq, runner.writtenSeq)) {
      lane.triedSeq = view.seq;
      await runner.submit(TRY).catch(() => undefined);
      view = await this.#host.settled(lane.gateId);
    }
    const decided = [...lane.callers.values()].flatMap((caller) => {
      const became = whatBecame(caller, view);
      return became === null ? [] : [{ caller, became }];
    });
    const { failpoint } = this.#host;
    if (failpoint && decided.length > 0) await failpoint("waiter.woken");
    for (const { caller, became } of decided) caller.resolve(became);
  }

  #cannotLook(lane: Lane, error: unknown): void {
    const now = this.#host.elapsed();
    const over = [...lane.callers.values()].filter(({ overAt }) => overAt <= now);
    for (const { reject } of over)
      reject(new Unavailable("the database cannot be reached; ask again with the same key", error));
  }

  async #end(lane: Lane): Promise<void> {
    const callers = [...lane.callers.values()];
    // A look at what this writes would find that they wait no more, and tell them that there is no room.
    lane.callers.clear();
    await this.#takeAway(lane, callers);
    const view = await this.#host.settled(lane.gateId).catch(() => undefined);
    for (const caller of callers) {
      if (view?.state.reservation(caller.waiter.id)) caller.resolve("served");
      else caller.reject(new Unavailable(SHUTTING_DOWN));
    }
  }

  /** Best effort: what stays is passed over once its server is gone, and runs out of time. */
  async #takeAway({ gateId }: Lane, callers: readonly Wait[]): Promise<void> {
    if (callers.length === 0) return;
    const leave: Command<null> = {
      name: "stop waiting",
      tenantId: callers[0]?.waiter.tenantId ?? "",
      plan(turn) {
        for (const { waiter } of callers) stopWaiting(turn, waiter);
        return ok(null);
      },
    };
    await this.#host
      .runner(gateId)
      .submit(leave)
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.name : "unknown";
        this.#host.log.warn({ gateId, reason }, "a waiter could not be taken away");
      });
  }
}

/** Null while it waits; a pool that is gone serves nobody. */
function whatBecame({ waiter, since }: Caller, view: View | null): Waited | null {
  if (view && (view.seq < since || view.state.waiting.get(waiter.id))) return null;
  return view?.state.reservation(waiter.id) ? "served" : "over";
}
