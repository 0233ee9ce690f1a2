/**
 * Bookings end to end: mutations a second over HTTP and through the client on a durable PostgreSQL, 1,000 nodes of
 * 8 GPUs, one pool and fifty, beside what the same PostgreSQL does in the same run for pgbench and for a hand-written
 * booking. What must hold against those is measured turn by turn with them, five times.
 */
import { againstPostgres } from "./booking-turns.ts";
import type { Figure } from "./figure.ts";
import { fill } from "./fill.ts";
import { type Lane, type LoadResult, load } from "./pairs.ts";
import { type System, lanesOf, makeFleet, makeTenants, startSystem } from "./servers.ts";
import { type Vitals, beside } from "./vitals.ts";

const NODES = 1_000;

interface Plan {
  readonly seconds: number;
  readonly servers: readonly number[];
  readonly callers: readonly number[];
  /** Live bookings to fill one pool with; 0: the falling rate is not measured. */
  readonly fill: number;
  /** Times that the system and the yardsticks take turns. */
  readonly rounds: number;
}

const FULL: Plan = {
  seconds: 6,
  servers: [1, 2, 4],
  callers: [1, 8, 64],
  fill: 100_000,
  rounds: 5,
};
const QUICK: Plan = { seconds: 2, servers: [1, 2], callers: [8, 64], fill: 0, rounds: 1 };

type Pools = 1 | 50;

interface Cell extends LoadResult {
  readonly pools: Pools;
  readonly callers: number;
  readonly servers: number;
  readonly vitals: Vitals;
}

/** All figures of `pnpm bench booking`. Starts and stops everything it needs. */
export async function run(options: { readonly quick: boolean }): Promise<Figure[]> {
  const plan = options.quick ? QUICK : FULL;
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const system = await startSystem();
  try {
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
    return [
      ...cellFigures(cells),
      ...(await throughTheClient(bench, cells)),
      ...(await againstPostgres({
        system,
        say,
        ...plan,
        cells: { 1: nameOf(best(cells, 1)), 50: nameOf(best(cells, 50)) },
        async rate(pools) {
          const lanes = bench.lanes(best(cells, pools));
          return (await load({ lanes, seconds: plan.seconds })).rate;
        },
      })),
      await atHalfPeak(bench, cells),
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
        const { result, vitals } = await beside(system, () =>
          load({ lanes: lanes(at), seconds: plan.seconds }),
        );
        const cell = { ...at, ...result, vitals };
        cells.push(cell);
        say(`${nameOf(cell)}: ${inWords(cell)}`);
      }
    }
  }
  return cells;
}

const nameOf = (cell: Pick<Cell, "pools" | "callers" | "servers">): string =>
  `pools-${cell.pools}.callers-${cell.callers}.servers-${cell.servers}`;

const inWords = ({ rate, p99, vitals }: Cell): string =>
  `${rate.toFixed(0)}/s, p99 ${p99.toFixed(1)} ms, ${vitals.batch.toFixed(1)} a batch`;

function cellFigures(cells: readonly Cell[]): Figure[] {
  return cells.flatMap((cell): Figure[] => {
    const { calls, vitals } = cell;
    const figure = (
      id: string,
      [value, unit]: readonly [number, string],
      direction: Figure["direction"] = "lower",
    ): Figure => ({ id: `${nameOf(cell)}.${id}`, value, unit, direction });
    return [
      figure("rate", [cell.rate, "mutations/s"], "higher"),
      figure("p50", [cell.p50, "ms"]),
      figure("p99", [cell.p99, "ms"]),
      figure("callers", [cell.callerCores, "cores"]),
      figure("server-cpu", [(vitals.serverCpu * 1_000) / calls, "ms a mutation"]),
      figure("batch", [vitals.batch, "commands a batch"], "higher"),
      figure("gate-lost", [vitals.lostPerHundred, "a hundred batches"]),
      figure("lock-wait", [vitals.lockWaitMs, "ms in all"]),
      figure("loop-p99", [vitals.loopP99, "ms"]),
      figure("transactions", [vitals.transactions / calls, "a mutation"]),
      figure("wal", [vitals.walBytes / calls, "bytes a mutation"]),
    ];
  });
}

/** The same calls by our own client, where the rate over bare HTTP was best. */
async function throughTheClient({ lanes, plan }: Bench, cells: readonly Cell[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const pools of [1, 50] as const) {
    const cell = best(cells, pools);
    const through = "client";
    await load({ lanes: lanes(cell), seconds: 0.5, through });
    const { rate, p99 } = await load({ lanes: lanes(cell), seconds: plan.seconds, through });
    const id = `client.pools-${pools}`;
    const yardstick = { id: nameOf(cell), value: cell.rate, unit: "mutations/s" };
    figures.push(
      {
        id: `${id}.rate`,
        value: rate,
        unit: "mutations/s",
        direction: "higher",
        yardstick,
        ratio: rate / cell.rate,
      },
      { id: `${id}.p99`, value: p99, unit: "ms", direction: "lower" },
    );
  }
  return figures;
}

/** The best number of servers speaks for the system: on a machine of two cores more processes only share them. */
function best(cells: readonly Cell[], pools: Pools): Cell {
  const found = cells
    .filter((cell) => cell.pools === pools && cell.callers === 64)
    .toSorted((a, b) => b.rate - a.rate)[0];
  if (found === undefined) throw new Error("nothing was measured with 64 callers");
  return found;
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
