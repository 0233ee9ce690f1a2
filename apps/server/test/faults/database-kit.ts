/** Servers at work, while something happens to their database; and how it went. */
import { setTimeout as delay } from "node:timers/promises";
import { createBerth } from "@berth/client";
import type { TestDatabase } from "@berth/db/testing";
import { expect, vi } from "vitest";
import { type SpawnedServer, pool } from "../harness.ts";
import { type Environment, type FaultRun, expectSound, startVictim } from "./kit.ts";
import { type Load, startLoad } from "./load.ts";
import { STOPPED, everyEvent, follow } from "./watching.ts";

/** No call is without an answer for longer; the product's own limit is 7.5 s. */
export const HUNG_MS = 8_000;

export interface Work {
  readonly run: FaultRun;
  readonly database: TestDatabase;
  readonly servers: readonly SpawnedServer[];
  readonly poolIds: readonly string[];
  /** Of t-a, who the load books for. */
  readonly token: string;
  readonly load: Load;
}

export interface WorkOptions {
  readonly run: FaultRun;
  readonly database: TestDatabase;
  /** Through what the servers reach it; default: its own URL. */
  readonly url?: string;
  readonly servers?: number;
  readonly callers?: number;
  readonly environment?: Environment;
  /** Somebody watches meanwhile, and is to see each event once and in order. */
  readonly watched?: boolean;
}

/**
 * Starts servers and a load on them, does `fault`, then lets everything come to rest and looks: nothing is
 * lost, nobody hung, no call failed but as UNAVAILABLE. Answers that part of the line to print.
 */
export async function underWork(
  options: WorkOptions,
  fault: (work: Work) => Promise<string>,
): Promise<string> {
  const { run, database, url = database.url, servers: count = 2, environment = {} } = options;
  const started = Array.from({ length: count }, () => startVictim(url, environment));
  const servers = await Promise.all(started);
  const [first] = servers as [SpawnedServer, ...SpawnedServer[]];
  const over = new AbortController();
  try {
    const { actors } = first;
    const pools = [await actors.fleet(pool(16, 8)), await actors.fleet(pool(16, 8))];
    const poolIds = pools.map(({ poolId }) => poolId);
    const token = await actors.token("t-a");
    const watcher = options.watched === true ? await watch(first, token, over.signal) : null;
    const load = startLoad({
      clients: servers.map((server) =>
        createBerth({ url: server.url, token, maxRetries: 0, timeoutMs: 20_000 }),
      ),
      tenantId: "t-a",
      poolIds,
      random: run.random,
      callers: options.callers ?? 8,
    });
    const told = await doneBy(load, () => fault({ run, database, servers, poolIds, token, load }));
    await expectAnswered(load);
    await expectSound({ database, load, servers });
    const seen = (await watcher?.expectAll(database)) ?? null;
    over.abort(STOPPED);
    const watching = seen === null ? "" : `, ${seen} events watched`;
    return `${told}, ${outcomes(load)}${watching}, 0 lost, doctor clean`;
  } finally {
    over.abort(STOPPED);
    for (const server of servers) await server.kill("SIGKILL");
  }
}

/** The load ends whatever becomes of the fault. */
async function doneBy(load: Load, fault: () => Promise<string>): Promise<string> {
  try {
    await acked(load, 20);
    const told = await fault();
    // What was broken is whole again: everybody gets through.
    await acked(load, 40);
    return told;
  } finally {
    await load.stop();
  }
}

const PATIENCE_MS = 60_000;

/** @throws with the last failure when nobody gets through any more */
export async function acked(load: Load, more: number): Promise<void> {
  const over = new AbortController();
  const late = delay(PATIENCE_MS, undefined, { signal: over.signal }).then(() => {
    const last = load.calls.findLast(({ outcome }) => outcome !== "ack");
    throw new Error(`no ${more} calls acknowledged in a minute; the last failure: ${last?.error}`);
  });
  await Promise.race([load.acked(more), late]).finally(() => over.abort());
}

/** Every call was answered in time, by what it asked for or by UNAVAILABLE. */
async function expectAnswered(load: Load): Promise<void> {
  const wrong = load.calls
    .filter(({ outcome }) => outcome !== "ack" && outcome !== "unavailable")
    .map(({ name, outcome, error }) => `${name}: ${outcome}: ${error}`);
  expect(wrong).toEqual([]);
  expect(slowestMs(load)).toBeLessThan(HUNG_MS);
}

export function slowestMs(load: Load): number {
  return load.calls.reduce((most, call) => Math.max(most, call.endedAt - call.startedAt), 0);
}

function outcomes(load: Load): string {
  const slowest = Math.round(slowestMs(load));
  return `${load.count("ack")} acks, ${load.count("unavailable")} unavailable, slowest ${slowest} ms`;
}

async function watch(server: SpawnedServer, token: string, signal: AbortSignal) {
  const { admin } = server.actors;
  const start = (await everyEvent(admin, undefined)).at(-1)?.cursor;
  const { events } = follow(
    createBerth({ url: server.url, token }),
    { lastEventId: start },
    signal,
  );
  return {
    /** Resolves with how many there were, when the list and what was seen are the same. */
    async expectAll(database: TestDatabase): Promise<number> {
      await database.feedCaughtUp();
      const list = await everyEvent(admin, start);
      await vi.waitFor(() => expect(events.at(-1)?.id).toBe(list.at(-1)?.id), { timeout: 20_000 });
      expect(events.map(({ id }) => id)).toEqual(list.map(({ id }) => id));
      return events.length;
    },
  };
}

/** Milliseconds from now until the server's /readyz answers so. */
export async function untilReady(server: Pick<SpawnedServer, "url">, ready: boolean) {
  const since = performance.now();
  while ((await isReady(server)) !== ready) await delay(20);
  return performance.now() - since;
}

async function isReady({ url }: Pick<SpawnedServer, "url">): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`);
  await answer.arrayBuffer();
  expect([200, 503]).toContain(answer.status);
  return answer.status === 200;
}

/** Milliseconds from now to the next call that is acknowledged and had not been begun. */
export async function untilAck(load: Load): Promise<number> {
  const since = performance.now();
  const later = () => load.calls.find((call) => call.outcome === "ack" && call.startedAt > since);
  for (;;) {
    const first = later();
    if (first) return first.endedAt - since;
    await delay(5);
  }
}
