/** One soak from the first tenant to the last check. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "@berth/db";
import { Caller } from "../bench/caller.ts";
import { randomFrom } from "../bench/placer-pool.ts";
import type { System } from "../bench/servers.ts";
import { Checker } from "../history/checker.ts";
import { installJournal } from "../history/journal.ts";
import { Lost, Recorder } from "../history/recorder.ts";
import type { History, Stretch } from "../history/types.ts";
import { watchMemory } from "./memory.ts";
import { type Dice, type Hands, OPERATIONS, type Operation, type Reply } from "./operations.ts";
import { type Watcher, watch } from "./watcher.ts";
import { TENANTS, type World, buildWorld } from "./world.ts";

export interface SoakPlan {
  /** It ends after so long, or after so many answered calls. */
  readonly ms: number;
  readonly operations: number;
  readonly seed: number;
  readonly writers: number;
  /** How often a server is killed and another one started in its place, evenly over the run. */
  readonly kills: number;
  /** The history is checked, and let go of, this often. */
  readonly stretchMs: number;
  /** Whether servers' memory is followed, and may not grow. */
  readonly memory: boolean;
  /** Stretches of the history that are kept. */
  readonly kept: number;
}

export interface Soaked {
  /** What was wrong, in words; empty when nothing was. */
  readonly faults: string[];
  readonly history: History;
}

const MAIN = path.resolve(import.meta.dirname, "../../../../apps/server/src/main.ts");
const REBUILD_EVERY_MS = 20_000;
const FINISH_MS = 20_000;
/** Of a call whose connection was lost: the same again, with its key. */
const TRIES = 100;
const TRY_AGAIN_MS = 100;
/** Answers that a healthy server never gives to these writers. */
const NEVER = new Set(["INTERNAL", "INVALID_INPUT", "UNAUTHENTICATED", "FORBIDDEN"]);
/** An end drawn at random may be before the booking's. */
const EXPECTED = "reservations.extend INVALID_INPUT";

export async function soak(
  system: System,
  plan: SoakPlan,
  print: (line: string) => void,
): Promise<Soaked> {
  const database = openDatabase(system.databaseUrl, { connections: 2, writers: 1 });
  try {
    await installJournal(database.sql);
    const run = new Run({ system, plan, print, recorder: new Recorder(database.sql) });
    return await run.go();
  } finally {
    await database.close();
  }
}

interface Setting {
  readonly system: System;
  readonly plan: SoakPlan;
  readonly print: (line: string) => void;
  readonly recorder: Recorder;
}

class Run {
  readonly #setting: Setting;
  readonly #faults: string[] = [];
  readonly #counts = new Map<string, number>();
  readonly #stretches: Stretch[] = [];
  /** Calls that were answered. */
  #answered = 0;
  #lost = 0;
  #killed = 0;
  #until = 0;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  async go(): Promise<Soaked> {
    const { system, plan, print, recorder } = this.#setting;
    const world = await buildWorld(system);
    const watching = await Promise.all(
      TENANTS.map((tenantId) => lastEvent(system, world, tenantId)),
    );
    const watchers = watching.map(({ tenantId, cursor }) => this.#watch(world, tenantId, cursor));
    const checker = new Checker(watching);
    const take = async (): Promise<void> => {
      const seen = watchers.map((w) => ({ tenantId: w.tenantId, eventIds: w.seen.splice(0) }));
      const stretch = await recorder.stretch(seen);
      this.#stretches.push(stretch);
      if (this.#stretches.length > plan.kept) this.#stretches.shift();
      checker.take(stretch);
    };
    print(`seed ${plan.seed}: ${plan.writers} writers, ${system.urls.length} servers`);
    this.#until = performance.now() + plan.ms;
    const started = performance.now();
    const memory = plan.memory ? watchMemory(system, print) : null;
    const beside = Promise.all([
      this.#rebuildNowAndThen(),
      this.#killNowAndThen(),
      this.#every(plan.stretchMs, take),
    ]);
    // The writers would go on for ever; it is thrown below.
    beside.catch(() => (this.#until = 0));
    await Promise.all(
      Array.from({ length: plan.writers }, (_, n) =>
        this.#write(world, `writer ${n}`, diceOf(plan.seed * 1_000 + n)),
      ),
    );
    const seconds = (performance.now() - started) / 1_000;
    await beside;
    if (this.#killed < plan.kills)
      this.#faults.push(`only ${this.#killed} of ${plan.kills} servers were killed`);
    if (memory) this.#faults.push(...(await memory.end()));
    for (const line of table(this.#counts)) print(line);
    this.#faults.push(...(await examine(system, print)));
    for (const watcher of watchers) await this.#finish(watcher, world);
    await system.stopServers();
    await take();
    const final = await recorder.final();
    checker.end(final);
    const { operations, batches, events, reads, answers, refusals, watched } = checker.figures;
    const verdict = checker.faults.length === 0 ? "clean" : `${checker.faults.length} FAULTS`;
    print(
      `history: ${operations} operations in ${seconds.toFixed(0)} s, ${this.#lost} of unknown outcome, ` +
        `${this.#killed} servers killed; ${batches} batches, ${events} events; checked ${answers} answers, ` +
        `${reads} reads, ${refusals} refusals, ${watched} events watched over ${cutsOf(watchers)} cuts: ` +
        `${verdict}, seed ${plan.seed}`,
    );
    this.#faults.push(...checker.faults.map(({ code, message }) => `${code} ${message}`));
    return { faults: this.#faults, history: { watching, stretches: this.#stretches, final } };
  }

  #goesOn(): boolean {
    return this.#answered < this.#setting.plan.operations && performance.now() < this.#until;
  }

  #watch(world: World, tenantId: string, cursor: string | null): Watcher {
    return watch({
      urls: this.#setting.system.urls,
      token: world.tokens.get(tenantId) ?? "",
      tenantId,
      cursor,
      cutAfterMs: () => 1_000 + Math.floor(Math.random() * 4_000),
    });
  }

  /** Each watcher sees what its tenant's log ends with now; time goes on writing more. */
  async #finish(watcher: Watcher, world: World): Promise<void> {
    const { tenantId } = watcher;
    const { after } = await lastEvent(this.#setting.system, world, tenantId);
    const reached = await watcher.finish(after, FINISH_MS);
    if (!reached)
      this.#faults.push(`${tenantId} was not sent ${after} within ${FINISH_MS / 1_000} s`);
  }

  async #write(world: World, writer: string, dice: Dice): Promise<void> {
    const callers = new Map<string, Caller>();
    const hands: Hands = {
      world,
      dice,
      call: (as, method, input) =>
        this.#call({ world, writer, dice, callers }, { as, method, input }),
    };
    while (this.#goesOn()) {
      const operation = draw(dice);
      try {
        await operation.run(hands);
      } catch (error) {
        if (!(error instanceof Lost))
          this.#faults.push(
            `${operation.name}: ${error instanceof Error ? error.message : String(error)}`,
          );
        await delay(TRY_AGAIN_MS);
      }
    }
    for (const caller of callers.values()) caller.close();
  }

  /** A call whose outcome is unknown is made again where its key makes that safe, and given up elsewhere. */
  async #call(by: Writer, ask: Asked): Promise<Reply> {
    const { as, method, input } = ask;
    for (let tries = 1; ; tries += 1) {
      const url = by.dice.pick(this.#setting.system.urls);
      const caller = by.callers.get(as + url) ?? new Caller(url, by.world.tokens.get(as) ?? "");
      by.callers.set(as + url, caller);
      try {
        const call = { caller: `${by.writer} at ${url}`, tenantId: as, method, input };
        const reply = await this.#setting.recorder.call(call, caller);
        this.#note(method, reply);
        return reply;
      } catch (error) {
        this.#lost += 1;
        this.#count(`${method} (lost)`);
        if (!(error instanceof Lost) || !("idempotencyKey" in input) || tries >= TRIES) throw error;
        await delay(TRY_AGAIN_MS);
      }
    }
  }

  #note(method: string, { status, body }: Reply): void {
    this.#answered += 1;
    const code = status === 200 ? "ok" : String(body["code"]);
    const row = `${method} ${code}`;
    this.#count(row);
    if (NEVER.has(code) && row !== EXPECTED)
      this.#faults.push(`${method} answered ${JSON.stringify(body)}`);
  }

  #count(row: string): void {
    this.#counts.set(row, (this.#counts.get(row) ?? 0) + 1);
  }

  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    let next = performance.now() + ms;
    while (this.#goesOn()) {
      await delay(Math.min(ms, 200));
      if (performance.now() < next) continue;
      await work();
      next = performance.now() + ms;
    }
  }

  async #rebuildNowAndThen(): Promise<void> {
    await this.#every(REBUILD_EVERY_MS, async () => {
      this.#faults.push(...(await rebuild(this.#setting.system)));
    });
  }

  async #killNowAndThen(): Promise<void> {
    const { system, plan, print } = this.#setting;
    const dice = diceOf(plan.seed);
    while (this.#killed < plan.kills && this.#goesOn()) {
      const due = ((this.#killed + 1) / (plan.kills + 1)) * plan.operations;
      if (this.#answered < due) {
        await delay(20);
        continue;
      }
      const at = dice.below(system.urls.length);
      print(`server ${at + 1} is killed after ${this.#answered} answers`);
      await system.crash(at);
      this.#killed += 1;
    }
  }
}

interface Writer {
  readonly world: World;
  readonly writer: string;
  readonly dice: Dice;
  readonly callers: Map<string, Caller>;
}

interface Asked {
  readonly as: string;
  readonly method: string;
  readonly input: object;
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

/** Where the tenant's events end: its watcher begins there. */
async function lastEvent(
  system: System,
  world: World,
  tenantId: string,
): Promise<{ tenantId: string; after: string | null; cursor: string | null }> {
  const caller = new Caller(system.urls[0] ?? "", world.tokens.get(tenantId) ?? "");
  let last: { id: string; cursor: string } | undefined;
  try {
    for (let after: string | null = null; ;) {
      const from = after === null ? {} : { after };
      const page = await caller.must("events.list", { tenantId, limit: 200, ...from });
      const { events, nextCursor } = page as unknown as Page;
      last = events.at(-1) ?? last;
      if (nextCursor === null)
        return { tenantId, after: last?.id ?? null, cursor: last?.cursor ?? null };
      after = nextCursor;
    }
  } finally {
    caller.close();
  }
}

interface Page {
  readonly events: readonly { readonly id: string; readonly cursor: string }[];
  readonly nextCursor: string | null;
}

const cutsOf = (watchers: readonly Watcher[]): number =>
  watchers.reduce((sum, watcher) => sum + watcher.cuts(), 0);

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
