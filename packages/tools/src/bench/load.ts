/**
 * The mixed load of an installation: 4 pools of 250 nodes with 8 GPUs, two servers and PostgreSQL. Finds
 * what it can take, holds 60 % of that by the clock, then one hot pool, then three times as much as it can
 * take and the time until it is well again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type Heard, FULL, closedLoop, inWords, openLoop, unexpected } from "./arrivals.ts";
import { Caller } from "./caller.ts";
import { type Figure, quantile } from "./figure.ts";
import { type Setting, arrive } from "./mix.ts";
import { randomFrom } from "./placer-pool.ts";
import { type System, makeFleet, makeTenants, startSystem } from "./servers.ts";

const POOLS = 4;
const NODES = 250;
const SERVERS = 2;
const CALLERS = 64;
/** Connections of one tenant to one server. */
const SOCKETS = 250;
const HELD = 0.6;
/** Creates a second that have to be held, and what share of the mix they are. */
const FLOOR = 150;
const CREATES = 0.55;
const HOT = 100;
const OVER = 3;
const MIB = 1_048_576;

interface Plan {
  readonly find: number;
  readonly hold: number;
  readonly hot: number;
  readonly over: number;
}

/** Seconds. */
const FULL_PLAN: Plan = { find: 10, hold: 60, hot: 20, over: 15 };
const QUICK_PLAN: Plan = { find: 4, hold: 10, hot: 5, over: 5 };

export async function run({ quick }: { readonly quick: boolean }): Promise<Figure[]> {
  const plan = quick ? QUICK_PLAN : FULL_PLAN;
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const system = await startSystem();
  try {
    for (let i = 0; i < SERVERS; i += 1) await system.addServer();
    const tenants = await makeTenants(system);
    const pools = await makeFleet(system, { name: "load", nodes: POOLS * NODES, pools: POOLS });
    const setting: Setting = {
      clients: tenants.map(({ tenantId, token }) => ({
        tenantId,
        callers: system.urls.map((url) => new Caller(url, token, { sockets: SOCKETS })),
      })),
      pools,
      random: randomFrom(7),
      booked: [],
    };
    const bench = new Bench(system, setting, say);
    const saturation = await bench.find(plan.find);
    const figures = [
      figure("saturation", saturation, "arrivals/s", "higher"),
      ...(await bench.hold(saturation * HELD, plan.hold)),
      ...(await bench.hot(plan.hot)),
      ...(await bench.tooMuch(saturation * OVER, plan.over)),
    ];
    for (const { callers } of setting.clients) for (const caller of callers) caller.close();
    return figures;
  } finally {
    await system.stop();
  }
}

class Bench {
  readonly #system: System;
  readonly #setting: Setting;
  readonly #say: (line: string) => void;

  constructor(system: System, setting: Setting, say: (line: string) => void) {
    this.#system = system;
    this.#setting = setting;
    this.#say = say;
  }

  async find(seconds: number): Promise<number> {
    await closedLoop(this.#setting, { callers: CALLERS, seconds: seconds / 4 });
    const heard = await closedLoop(this.#setting, { callers: CALLERS, seconds });
    this.#say(`as fast as it goes: ${inWords(heard)}`);
    return heard.took.length / heard.seconds;
  }

  async hold(wanted: number, seconds: number): Promise<Figure[]> {
    const rate = Math.max(wanted, FLOOR / CREATES);
    const { heard, vitals } = await this.#beside(() => openLoop(this.#setting, { rate, seconds }));
    this.#say(`held: ${inWords(heard)}; ${inVitals(vitals)}`);
    return [
      figure("held.creates", heard.creates / heard.seconds, "creates/s", "higher", FLOOR),
      figure(
        "held.p50",
        quantile(heard.took, 0.5),
        `ms at ${rate.toFixed(0)} arrivals/s`,
        "lower",
        40,
      ),
      figure(
        "held.p99",
        quantile(heard.took, 0.99),
        `ms at ${rate.toFixed(0)} arrivals/s`,
        "lower",
        300,
      ),
      figure("held.errors", unexpected(heard.codes), "unexpected answers", "lower", 0),
      figure("held.loop-p99", vitals.loopP99, "ms", "lower", 50),
      figure("held.loop-max", vitals.loopMax, "ms", "lower", 200),
      figure("held.rss", vitals.rssAfter, "MiB of the larger server", "lower"),
    ];
  }

  async hot(seconds: number): Promise<Figure[]> {
    const setting = { ...this.#setting, pools: this.#setting.pools.slice(0, 1), booked: [] };
    const heard = await openLoop(setting, { rate: HOT, seconds, kind: "create" });
    this.#say(`one hot pool: ${inWords(heard)}`);
    return [
      figure("hot-pool.p99", quantile(heard.took, 0.99), `ms at ${HOT} creates/s`, "lower", 400),
      figure("hot-pool.errors", unexpected(heard.codes), "unexpected answers", "lower", 0),
    ];
  }

  async tooMuch(rate: number, seconds: number): Promise<Figure[]> {
    const { heard, vitals } = await this.#beside(() => openLoop(this.#setting, { rate, seconds }));
    const well = await this.#untilWell();
    this.#say(
      `three times too much: ${inWords(heard)}; ${inVitals(vitals)}; well after ${well.toFixed(1)} s`,
    );
    const full = [...heard.codes].reduce((sum, [code, n]) => sum + (FULL.has(code) ? n : 0), 0);
    const at = `at ${rate.toFixed(0)} arrivals/s`;
    return [
      figure("overload.turned-away", full, `answers ${at}`, "higher"),
      figure("overload.no-retry-after", heard.withoutRetryAfter, "of them", "lower", 0),
      figure("overload.errors", unexpected(heard.codes) - full, "unexpected answers", "lower", 0),
      figure("overload.p99", quantile(heard.took, 0.99), `ms of those accepted`, "lower", 1_000),
      figure("overload.rss-growth", vitals.rssAfter - vitals.rssBefore, "MiB", "lower", 100),
      figure("overload.recovery", well, "s until calls take 300 ms again", "lower", 5),
    ];
  }

  /** Seconds until twenty calls in a row, one every 50 ms, each took as little as when the system is well. */
  async #untilWell(): Promise<number> {
    const started = performance.now();
    let since = started;
    for (let inARow = 0; inARow < 20;) {
      const from = performance.now();
      const arrived = await arrive(this.#setting, "create").catch(() => null);
      const took = performance.now() - from;
      const good = arrived?.answers.every(({ status }) => status === 200) === true && took < 300;
      if (!good) since = performance.now();
      inARow = good ? inARow + 1 : 0;
      if (performance.now() - started > 120_000) break;
      await delay(Math.max(0, 50 - took));
    }
    return (since - started) / 1_000;
  }

  /** The servers' own figures of the stretch: their histograms of the loop begin anew with each look. */
  async #beside(work: () => Promise<Heard>): Promise<{ heard: Heard; vitals: Vitals }> {
    const before = await this.#look();
    const heard = await work();
    const after = await this.#look();
    const most = (of: typeof after, name: string): number =>
      Math.max(...of.map((metrics) => metrics.get(name) ?? Number.NaN));
    const rss = "process_resident_memory_bytes";
    const vitals = {
      loopP99: most(after, "nodejs_eventloop_lag_p99_seconds") * 1_000,
      loopMax: most(after, "nodejs_eventloop_lag_max_seconds") * 1_000,
      rssBefore: most(before, rss) / MIB,
      rssAfter: most(after, rss) / MIB,
    };
    return { heard, vitals };
  }

  #look(): Promise<ReadonlyMap<string, number>[]> {
    return Promise.all(this.#system.urls.map((_, server) => this.#system.metrics(server)));
  }
}

interface Vitals {
  /** Milliseconds between two turns of the loop, the 10 ms of its own clock included. */
  readonly loopP99: number;
  readonly loopMax: number;
  readonly rssBefore: number;
  readonly rssAfter: number;
}

const inVitals = ({ loopP99, loopMax, rssBefore, rssAfter }: Vitals): string =>
  `loop p99 ${loopP99.toFixed(0)} ms, max ${loopMax.toFixed(0)} ms; ` +
  `${rssBefore.toFixed(0)} → ${rssAfter.toFixed(0)} MiB resident`;

type Measured = Pick<Figure, "id" | "value" | "unit" | "direction">;

function figure(
  ...[id, value, unit, direction, must]: [...Values<Measured>, must?: number]
): Figure {
  return { id, value, unit, direction, ...(must === undefined ? {} : { must }) };
}
type Values<T extends Measured> = [T["id"], T["value"], T["unit"], T["direction"]];
