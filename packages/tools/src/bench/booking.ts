/**
 * Bookings end to end: mutations a second over HTTP on a durable PostgreSQL, 1,000 nodes of 8 GPUs, one pool
 * and fifty, beside what the same PostgreSQL does in the same run for pgbench and for a hand-written booking.
 */
import { openDatabase } from "@berth/db";
import { Caller } from "./caller.ts";
import type { Figure } from "./figure.ts";
import { BOOKING, type Lane, type LoadResult, freshKey, load } from "./pairs.ts";
import {
  HAND_WRITTEN_SCHEMA,
  type PgbenchOptions,
  findPgbench,
  handWritten,
  pgbench,
  prepareTpcb,
} from "./pgbench.ts";
import { type System, lanesOf, makeFleet, makeTenants, startSystem } from "./servers.ts";

const NODES = 1_000;
const HOUR = 3_600_000;
/** Bookings of two GPUs that begin in one hour of the fill: some room stays, so that each of them fits. */
const FILL_PER_HOUR = 3_500;

interface Plan {
  readonly seconds: number;
  readonly servers: readonly number[];
  readonly callers: readonly number[];
  /** Live bookings to fill one pool with; 0: the falling rate is not measured. */
  readonly fill: number;
}

const FULL: Plan = { seconds: 6, servers: [1, 2, 4], callers: [1, 8, 64], fill: 100_000 };
const QUICK: Plan = { seconds: 2, servers: [1, 2], callers: [1, 8, 64], fill: 0 };

type Pools = 1 | 50;

interface Cell extends LoadResult {
  readonly pools: Pools;
  readonly callers: number;
  readonly servers: number;
}

interface Yardsticks {
  /** Transactions a second by number of clients. */
  readonly tpcb: Readonly<Record<8 | 32, number>>;
  /** Hand-written bookings a second, 8 clients, by pools. */
  readonly byHand: Readonly<Record<Pools, number>>;
}

/** All figures of `pnpm bench booking`. Starts and stops everything it needs. */
export async function run(options: { readonly quick: boolean }): Promise<Figure[]> {
  const plan = options.quick ? QUICK : FULL;
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const system = await startSystem();
  try {
    const yardsticks = await measureYardsticks(system, plan, say);
    await system.addServer();
    const tenants = await makeTenants(system);
    const one = await makeFleet(system, { name: "one", nodes: NODES, pools: 1 });
    const fifty = await makeFleet(system, { name: "fifty", nodes: NODES, pools: 50 });
    const bench: Bench = {
      system,
      plan,
      say,
      lanes: (at) => lanesOf(system, at, { pools: at.pools === 1 ? one : fifty, tenants }),
    };
    const cells = await measureGrid(bench);
    const paced = await atHalfPeak(bench, cells);
    return [
      ...cellFigures(cells),
      ...(yardsticks === null ? [] : rateFigures(cells, yardsticks)),
      paced,
      ...(plan.fill > 0 ? [await fallingRate(bench)] : []),
    ];
  } finally {
    await system.stop();
  }
}

interface Bench {
  readonly system: System;
  readonly plan: Plan;
  readonly say: (line: string) => void;
  lanes(cell: {
    readonly pools: Pools;
    readonly callers: number;
    readonly servers: number;
  }): Lane[];
}

async function measureGrid({ system, plan, say, lanes }: Bench): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const servers of plan.servers) {
    while (system.urls.length < servers) await system.addServer();
    for (const pools of [1, 50] as const) {
      for (const callers of plan.callers) {
        const at = { pools, callers, servers };
        await load({ lanes: lanes(at), seconds: 0.5 });
        const cell = { ...at, ...(await load({ lanes: lanes(at), seconds: plan.seconds })) };
        cells.push(cell);
        say(`${nameOf(cell)}: ${cell.rate.toFixed(0)}/s, p99 ${cell.p99.toFixed(1)} ms`);
      }
    }
  }
  return cells;
}

const nameOf = (cell: Pick<Cell, "pools" | "callers" | "servers">): string =>
  `pools-${cell.pools}.callers-${cell.callers}.servers-${cell.servers}`;

async function measureYardsticks(
  system: System,
  plan: Plan,
  say: Bench["say"],
): Promise<Yardsticks | null> {
  const program = findPgbench(say);
  if (program === null) {
    say(
      "\nNO PGBENCH: it is not here and could not be installed. Every comparison with PostgreSQL itself is left out.\n",
    );
    return null;
  }
  const at = async (name: string): Promise<PgbenchOptions> => {
    return { program, url: await system.makeDatabase(name), seconds: plan.seconds };
  };
  const tpcb = await at("tpcb");
  prepareTpcb(tpcb);
  const byHand = async (pools: Pools): Promise<number> => {
    const target = await at(`by_hand_${pools}`);
    const database = openDatabase(target.url, { connections: 1, writers: 1 });
    await database.sql.unsafe(HAND_WRITTEN_SCHEMA).simple();
    await database.close();
    return handWritten(target, { clients: 8, pools });
  };
  const yardsticks = {
    tpcb: { 8: pgbench(tpcb, { clients: 8 }), 32: pgbench(tpcb, { clients: 32 }) },
    byHand: { 1: await byHand(1), 50: await byHand(50) },
  };
  const show = (rates: Readonly<Record<number, number>>, of: string): string =>
    Object.entries(rates)
      .map(([key, rate]) => `${rate.toFixed(0)}/s (${key} ${of})`)
      .join(", ");
  say(`pgbench, TPC-B-like: ${show(yardsticks.tpcb, "clients")}`);
  say(`hand-written booking, 8 clients: ${show(yardsticks.byHand, "pools")}`);
  return yardsticks;
}

function cellFigures(cells: readonly Cell[]): Figure[] {
  return cells.flatMap((cell): Figure[] => [
    { id: `${nameOf(cell)}.rate`, value: cell.rate, unit: "mutations/s", direction: "higher" },
    { id: `${nameOf(cell)}.p50`, value: cell.p50, unit: "ms", direction: "lower" },
    { id: `${nameOf(cell)}.p99`, value: cell.p99, unit: "ms", direction: "lower" },
    { id: `${nameOf(cell)}.callers`, value: cell.callerCores, unit: "cores", direction: "lower" },
  ]);
}

/** The best number of servers speaks for the system: on a machine of two cores more processes only share them. */
function best(cells: readonly Cell[], pools: Pools): Cell {
  const found = cells
    .filter((cell) => cell.pools === pools && cell.callers === 64)
    .toSorted((a, b) => b.rate - a.rate)[0];
  if (found === undefined) throw new Error("nothing was measured with 64 callers");
  return found;
}

/** What must hold against PostgreSQL itself, as ratios inside this run. */
function rateFigures(cells: readonly Cell[], { tpcb, byHand }: Yardsticks): Figure[] {
  const yardstick = (id: string, value: number): Figure => {
    return { id: `pgbench.${id}`, value, unit: "transactions/s", direction: "higher" };
  };
  const against = (id: string, cell: Cell, { id: of, value, unit }: Figure): Figure => ({
    id,
    value: cell.rate / value,
    unit: `× (${nameOf(cell)})`,
    direction: "higher",
    must: 1,
    aim: 2,
    yardstick: { id: of, value, unit },
    ratio: cell.rate / value,
  });
  const [tpcb8, tpcb32] = [
    yardstick("tpcb.clients-8", tpcb[8]),
    yardstick("tpcb.clients-32", tpcb[32]),
  ];
  const hot = yardstick("by-hand.pools-1", byHand[1]);
  return [
    tpcb8,
    tpcb32,
    hot,
    yardstick("by-hand.pools-50", byHand[50]),
    against(
      "fifty-pools-against-tpcb",
      best(cells, 50),
      tpcb8.value > tpcb32.value ? tpcb8 : tpcb32,
    ),
    against("hot-pool-against-by-hand", best(cells, 1), hot),
  ];
}

/** Latency where an installation would run: at half of what it can take, from the instant each call was due. */
async function atHalfPeak({ plan, lanes }: Bench, cells: readonly Cell[]): Promise<Figure> {
  const peak = best(cells, 50);
  const rate = peak.rate / 2;
  const { p99 } = await load({ lanes: lanes(peak), seconds: plan.seconds, rate });
  const unit = `ms at ${rate.toFixed(0)} mutations/s`;
  return { id: "half-peak.p99", value: p99, unit, direction: "lower", must: 50 };
}

/** The rate on one pool with so many live bookings, as a share of its rate without any. */
async function fallingRate({ plan, say, lanes }: Bench): Promise<Figure> {
  const cell = { pools: 1, callers: 64, servers: 1 } as const;
  const before = await load({ lanes: lanes(cell), seconds: plan.seconds });
  await fill(lanes(cell), plan.fill);
  say(`${plan.fill} live bookings are in`);
  await load({ lanes: lanes(cell), seconds: 1 });
  const after = await load({ lanes: lanes(cell), seconds: plan.seconds });
  return {
    id: `rate-at-${plan.fill}-live`,
    value: after.rate / before.rate,
    unit: "× of the rate at 0",
    direction: "higher",
    must: 0.8,
  };
}

async function fill(lanes: readonly Lane[], bookings: number): Promise<void> {
  const base = Date.now();
  let next = 0;
  await Promise.all(
    lanes.map(async ({ url, token, tenantId, poolId }) => {
      const caller = new Caller(url, token);
      for (let i = next++; i < bookings; i = next++) {
        const start = base + (2 + Math.floor(i / FILL_PER_HOUR)) * HOUR;
        const ask = { tenantId, poolId, ...BOOKING, start, idempotencyKey: freshKey() };
        await caller.must("reservations.create", ask);
      }
      caller.close();
    }),
  );
}
