/** What a server keeps in memory with 10,000 nodes and 100,000 bookings, and whether ten minutes of booking make it grow. */
import { fill } from "./fill.ts";
import type { Figure } from "./figure.ts";
import { load } from "./pairs.ts";
import { lanesOf, makeFleet, makeTenants, startSystem } from "./servers.ts";

interface Plan {
  readonly nodes: number;
  readonly pools: number;
  readonly bookings: number;
  /** The run, and how long of it the caches may still fill. */
  readonly minutes: number;
  readonly settling: number;
}

const FULL: Plan = { nodes: 10_000, pools: 10, bookings: 100_000, minutes: 10, settling: 2 };
const QUICK: Plan = { nodes: 1_000, pools: 10, bookings: 2_000, minutes: 0.3, settling: 0.1 };
const CALLERS = 16;
/** The spec's megabytes. */
const MB = 1e6;
const MUST_MB = 500;
/** Of the size after the caches are full. */
const GROWTH = 1.1;

export async function run({ quick }: { readonly quick: boolean }): Promise<Figure[]> {
  const plan = quick ? QUICK : FULL;
  const system = await startSystem();
  try {
    await system.addServer();
    const tenants = await makeTenants(system);
    const pools = await makeFleet(system, { name: "memory", nodes: plan.nodes, pools: plan.pools });
    const lanes = lanesOf(system, { callers: CALLERS, servers: 1 }, { pools, tenants });
    await fill(lanes, plan.bookings);
    const resident = async (): Promise<number> =>
      (await system.metrics(0)).get("process_resident_memory_bytes") ?? Number.NaN;
    const filled = await resident();
    await load({ lanes, seconds: plan.settling * 60 });
    const before = await resident();
    const { calls } = await load({ lanes, seconds: (plan.minutes - plan.settling) * 60 });
    const after = await resident();
    const name = `${plan.nodes}-nodes.${plan.bookings}-bookings`;
    return [
      {
        id: `${name}.resident`,
        value: filled / MB,
        unit: "MB",
        direction: "lower",
        must: MUST_MB,
      },
      { id: `${name}.after-settling`, value: before / MB, unit: "MB", direction: "lower" },
      { id: `${name}.at-the-end`, value: after / MB, unit: "MB", direction: "lower" },
      {
        id: `${name}.growth`,
        value: after / before,
        unit: "×",
        direction: "lower",
        must: GROWTH,
      },
      { id: `${name}.grown-over`, value: calls, unit: "mutations", direction: "higher" },
    ];
  } finally {
    await system.stop();
  }
}
