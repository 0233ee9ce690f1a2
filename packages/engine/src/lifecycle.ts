/**
 * The worker of time passing: looks for pools that have something due and nobody asking, and lets the
 * ordinary batch apply it. Correctness never waits for it, every process runs one, and doing it twice is
 * harmless: the second finds nothing due.
 */
import { type GateId, ok } from "@berth/domain";
import type { Engine } from "./engine.ts";
import type { RunnerContext } from "./pool-runner.ts";
import type { Command } from "./types.ts";

/** Asks for nothing, so that a batch is planned and what is due is applied. */
export const SETTLE: Command<null> = { name: "settle", tenantId: "", plan: () => ok(null) };

/** Pools looked at in one round, and at the same time. */
const ROUND_MAX = 64;

export class Lifecycle {
  readonly #engine: Engine;
  readonly #context: RunnerContext;
  #abort: AbortController | null = null;
  #loops: Promise<void>[] = [];

  constructor(engine: Engine, context: RunnerContext) {
    this.#engine = engine;
    this.#context = context;
  }

  start(): void {
    if (this.#abort) return;
    const abort = new AbortController();
    this.#abort = abort;
    const { lifecycleMs, rebuildMs } = this.#context.options;
    this.#loops = [this.#every(lifecycleMs, abort.signal, () => this.#settleDue(abort.signal))];
    if (rebuildMs > 0)
      this.#loops.push(this.#every(rebuildMs, abort.signal, () => this.#rebuildAll()));
  }

  async stop(): Promise<void> {
    this.#abort?.abort();
    this.#abort = null;
    await Promise.all(this.#loops);
  }

  async #every(ms: number, signal: AbortSignal, task: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await this.#context.scheduler.delay(ms, { signal, ref: false });
      if (signal.aborted) return;
      await task().catch((error: unknown) => {
        const reason = error instanceof Error ? error.name : "unknown";
        this.#context.log.warn({ reason }, "the lifecycle worker will try again");
      });
    }
  }

  /** Round after round while one has not taken all: a thousand pools due at once do not wait for as many looks. */
  async #settleDue(signal: AbortSignal): Promise<void> {
    const seen = new Set<GateId>();
    for (;;) {
      const due = await this.#settleRound();
      const known = seen.size;
      for (const gateId of due) seen.add(gateId);
      if (due.length < ROUND_MAX || seen.size === known || signal.aborted) return;
    }
  }

  async #settleRound(): Promise<GateId[]> {
    const { store, observer, failpoint } = this.#context;
    const due = await store.due(ROUND_MAX);
    if (failpoint && due.length > 0) await failpoint("advance.selected");
    for (const { lateMs } of due) observer.lag?.(lateMs);
    await Promise.all(due.map(({ gateId }) => this.#engine.submit(gateId, SETTLE)));
    if (failpoint && due.length > 0) await failpoint("advance.applied");
    return due.map(({ gateId }) => gateId);
  }

  async #rebuildAll(): Promise<void> {
    for (const gateId of await this.#context.store.pools()) await this.#engine.rebuild(gateId);
  }
}
