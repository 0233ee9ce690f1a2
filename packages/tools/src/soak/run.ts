/** One soak from the first tenant to the last check. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Caller } from "../bench/caller.ts";
import { randomFrom } from "../bench/placer-pool.ts";
import type { System } from "../bench/servers.ts";
import { type Dice, type Hands, OPERATIONS, type Operation, type Reply } from "./operations.ts";
import { type Watcher, watch } from "./watcher.ts";
import { TENANTS, type World, buildWorld } from "./world.ts";

export interface SoakPlan {
  readonly ms: number;
  readonly seed: number;
  readonly writers: number;
}

const MAIN = path.resolve(import.meta.dirname, "../../../../apps/server/src/main.ts");
const REBUILD_EVERY_MS = 20_000;
/** Answers that a healthy server never gives to these writers. */
const NEVER = new Set(["INTERNAL", "INVALID_INPUT", "UNAUTHENTICATED", "FORBIDDEN"]);
/** An end drawn at random may be before the booking's. */
const EXPECTED = "reservations.extend INVALID_INPUT";

/** @returns what was wrong, in words; empty when nothing was */
export async function soak(
  system: System,
  plan: SoakPlan,
  print: (line: string) => void,
): Promise<string[]> {
  const faults: string[] = [];
  const counts = new Map<string, number>();
  const world = await buildWorld(system);
  const starts = await Promise.all(TENANTS.map((tenantId) => lastEvent(system, world, tenantId)));
  const watchers = TENANTS.map((tenantId, i) =>
    watch({
      urls: system.urls,
      token: world.tokens.get(tenantId) ?? "",
      tenantId,
      cursor: starts[i]?.cursor ?? null,
      cutAfterMs: () => 1_000 + Math.floor(Math.random() * 4_000),
    }),
  );
  const until = performance.now() + plan.ms;
  print(
    `seed ${plan.seed}: ${plan.writers} writers, ${system.urls.length} servers, ${plan.ms / 1_000} s`,
  );
  const rebuilding = rebuildUntil(system, until, faults);
  await Promise.all(
    Array.from({ length: plan.writers }, (_, writer) =>
      write({ system, world, until, counts, faults }, diceOf(plan.seed * 1_000 + writer)),
    ),
  );
  await rebuilding;
  for (const line of table(counts)) print(line);
  await compareStreams({ system, world, print, faults }, watchers, starts);
  faults.push(...(await examine(system, print)));
  return faults;
}

interface Writing {
  readonly system: System;
  readonly world: World;
  readonly until: number;
  readonly counts: Map<string, number>;
  readonly faults: string[];
}

async function write({ system, world, until, counts, faults }: Writing, dice: Dice): Promise<void> {
  const callers = new Map<string, Caller>();
  const call = async (as: string, method: string, input: object): Promise<Reply> => {
    const url = dice.pick(system.urls);
    const caller = callers.get(as + url) ?? new Caller(url, world.tokens.get(as) ?? "");
    callers.set(as + url, caller);
    const reply = await caller.call(method, input);
    const code = reply.status === 200 ? "ok" : String(reply.body["code"]);
    const row = `${method} ${code}`;
    counts.set(row, (counts.get(row) ?? 0) + 1);
    if (NEVER.has(code) && row !== EXPECTED)
      faults.push(`${method} answered ${JSON.stringify(reply.body)}`);
    return reply;
  };
  const hands: Hands = { world, dice, call };
  while (performance.now() < until) {
    const operation = draw(dice);
    try {
      await operation.run(hands);
    } catch (error) {
      faults.push(`${operation.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  for (const caller of callers.values()) caller.close();
}

function draw(dice: Dice): Operation {
  const total = OPERATIONS.reduce((sum, { weight }) => sum + weight, 0);
  let left = dice.below(total);
  for (const operation of OPERATIONS) {
    left -= operation.weight;
    if (left < 0) return operation;
  }
  throw new Error("weights do not add up");
}

function diceOf(seed: number): Dice {
  const next = randomFrom(seed);
  const below = (n: number): number => Math.floor(next() * n);
  return {
    below,
    chance: (p) => next() < p,
    pick: (list) => {
      const one = list[below(list.length)];
      if (one === undefined) throw new Error("nothing to pick from");
      return one;
    },
  };
}

function* table(counts: ReadonlyMap<string, number>): Generator<string> {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  yield `${total} calls`;
  for (const [row, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
    yield `  ${String(count).padStart(6)}  ${row}`;
}

interface Logged {
  readonly id: string;
  readonly cursor: string;
}

/** The tenant's events after a cursor, as the log has them. */
async function logOf(
  system: System,
  world: World,
  about: { readonly tenantId: string; readonly after: string | null },
): Promise<Logged[]> {
  const caller = new Caller(system.urls[0] ?? "", world.tokens.get(about.tenantId) ?? "");
  const found: Logged[] = [];
  let { after } = about;
  try {
    for (;;) {
      const from = after === null ? {} : { after };
      const input = { tenantId: about.tenantId, limit: 200, ...from };
      const page = await caller.must("events.list", input);
      const { events, nextCursor } = page as { events: Logged[]; nextCursor: string | null };
      found.push(...events);
      if (nextCursor === null) return found;
      after = nextCursor;
    }
  } finally {
    caller.close();
  }
}

async function lastEvent(
  system: System,
  world: World,
  tenantId: string,
): Promise<Logged | undefined> {
  return (await logOf(system, world, { tenantId, after: null })).at(-1);
}

async function compareStreams(
  about: Pick<Writing, "system" | "world" | "faults"> & { print(line: string): void },
  watchers: readonly Watcher[],
  starts: readonly (Logged | undefined)[],
): Promise<void> {
  const { system, world, faults, print } = about;
  for (const [i, tenantId] of TENANTS.entries()) {
    const watcher = watchers[i];
    if (!watcher) continue;
    const after = starts[i]?.cursor ?? null;
    const soFar = await logOf(system, world, { tenantId, after });
    await watcher.finish(soFar.at(-1)?.id, 10_000);
    // Time goes on doing things to the pools, so the stream may be ahead of the log that was read before it.
    const log = await logOf(system, world, { tenantId, after });
    const expected = log.slice(0, Math.max(soFar.length, watcher.seen.length)).map(({ id }) => id);
    const same = JSON.stringify(watcher.seen) === JSON.stringify(expected);
    print(`  ${tenantId}: ${watcher.seen.length} events watched over ${watcher.cuts()} cuts`);
    if (!same) faults.push(`${tenantId}: ${difference(watcher.seen, expected)}`);
  }
}

function difference(seen: readonly string[], expected: readonly string[]): string {
  const at = expected.findIndex((id, i) => seen[i] !== id);
  return `the stream has ${seen.length} events, the log ${expected.length}; they part at ${at}: ${seen[at]} is not ${expected[at]}`;
}

async function rebuildUntil(system: System, until: number, faults: string[]): Promise<void> {
  while (performance.now() + REBUILD_EVERY_MS < until) {
    await delay(REBUILD_EVERY_MS);
    faults.push(...(await rebuild(system)));
  }
}

/** A rebuild of a healthy system corrects nothing. */
async function rebuild(system: System): Promise<string[]> {
  const { code, out } = await berth(system, ["rebuild"]);
  const clean = code === 0 && /\b0 rows corrected/.test(out);
  return clean ? [] : [`rebuild: ${out.trim()}`];
}

async function examine(system: System, print: (line: string) => void): Promise<string[]> {
  const doctor = await berth(system, ["doctor"]);
  print(`doctor: ${doctor.out.trim().split("\n").at(-1) ?? ""}`);
  const faults = await rebuild(system);
  if (faults.length === 0) print("rebuild: corrected nothing");
  return doctor.code === 0 ? faults : [...faults, `doctor: ${doctor.out.trim()}`];
}

async function berth(system: System, args: string[]): Promise<{ code: number; out: string }> {
  const env = { ...process.env, DATABASE_URL: system.databaseUrl, LOG_LEVEL: "error" };
  const child = spawn(process.execPath, [MAIN, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (out += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code: code ?? 1, out };
}
