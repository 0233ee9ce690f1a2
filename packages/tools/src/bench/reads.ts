/**
 * What is read all the time: one pool, all pools of a tenant that has 500, a preview while others book, and what our
 * HTTP surface costs beside a plain Fastify server with the same schemas.
 */
import { Caller } from "./caller.ts";
import { type Figure, quantile } from "./figure.ts";
import { BOOKING, freshKey, load } from "./pairs.ts";
import { postsAgainstPlain } from "./reads-http.ts";
import { type System, lanesOf, makeFleet, makeTenants, startSystem } from "./servers.ts";

interface Plan {
  readonly nodes: number;
  readonly pools: number;
  readonly calls: number;
  readonly seconds: number;
  readonly rounds: number;
}

const FULL: Plan = { nodes: 1_000, pools: 500, calls: 400, seconds: 8, rounds: 5 };
const QUICK: Plan = { nodes: 200, pools: 50, calls: 100, seconds: 2, rounds: 1 };
const CALLERS = 64;

type Tenant = Awaited<ReturnType<typeof makeTenants>>[number];

export async function run({ quick }: { readonly quick: boolean }): Promise<Figure[]> {
  const plan = quick ? QUICK : FULL;
  const system = await startSystem();
  try {
    await system.addServer();
    const tenants = await makeTenants(system);
    const [tenant] = tenants;
    if (!tenant) throw new Error("there is no tenant to ask for");
    const [poolId = ""] = await makeFleet(system, { name: "one", nodes: plan.nodes, pools: 1 });
    const one = await onePool(system, tenant, { poolId, calls: plan.calls });
    const busy = await previews(system, { plan, poolId, tenants });
    await makeFleet(system, { name: "many", nodes: plan.pools, pools: plan.pools });
    const many = await manyPools(system, tenant, plan);
    return [...one, ...busy, ...many, ...(await postsAgainstPlain(system, plan))];
  } finally {
    await system.stop();
  }
}

interface Asked {
  readonly method: string;
  readonly input: object;
}

/** Milliseconds of each call, one after the other; the first one is the cold one. */
async function timed(caller: Caller, { input, method }: Asked, calls: number): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < calls; i += 1) {
    const from = performance.now();
    await caller.must(method, input);
    took.push(performance.now() - from);
  }
  return took;
}

/** PostgreSQL plans a statement five times on each of a server's connections before it keeps the plan. */
const WARMING = 100;

/** @param took with the warming calls in front */
function figuresOf(id: string, took: readonly number[], must: number): Figure[] {
  const [cold = Number.NaN] = took;
  const warm = took.slice(WARMING);
  const ms = { unit: "ms", direction: "lower" } as const;
  return [
    { id: `${id}.cold`, value: cold, ...ms },
    { id: `${id}.p50`, value: quantile(warm, 0.5), ...ms },
    { id: `${id}.p99`, value: quantile(warm, 0.99), ...ms, must },
  ];
}

async function onePool(
  system: System,
  { tenantId, token }: Tenant,
  { poolId, calls }: { readonly poolId: string; readonly calls: number },
): Promise<Figure[]> {
  const caller = new Caller(urlOf(system), token);
  const figures: Figure[] = [];
  for (const method of ["capacity.byPool", "pools.get"]) {
    const took = await timed(caller, { method, input: { tenantId, poolId } }, calls + WARMING);
    figures.push(...figuresOf(method, took, 5));
  }
  caller.close();
  return figures;
}

async function manyPools(
  system: System,
  { tenantId, token }: Tenant,
  { calls, pools }: Plan,
): Promise<Figure[]> {
  const caller = new Caller(urlOf(system), token);
  const figures: Figure[] = [];
  for (const method of ["capacity.summary", "pools.list"]) {
    const took = await timed(caller, { method, input: { tenantId } }, calls / 4 + WARMING);
    figures.push(...figuresOf(`${method}.pools-${pools}`, took, 50));
  }
  caller.close();
  return figures;
}

/** Previews one after the other, while the pool is booked at half of what it can take. */
async function previews(
  system: System,
  about: { readonly plan: Plan; readonly poolId: string; readonly tenants: readonly Tenant[] },
): Promise<Figure[]> {
  const { plan, poolId, tenants } = about;
  const lanes = lanesOf(system, { callers: CALLERS, servers: 1 }, { pools: [poolId], tenants });
  await load({ lanes, seconds: 1 });
  const peak = await load({ lanes, seconds: plan.seconds });
  const [tenant] = tenants as [Tenant];
  const caller = new Caller(urlOf(system), tenant.token);
  const preview = (calls: number): Promise<number[]> => {
    const input = { tenantId: tenant.tenantId, poolId, ...BOOKING, idempotencyKey: freshKey() };
    return timed(caller, { method: "capacity.preview", input }, calls);
  };
  const took = await preview(WARMING);
  const booking = load({ lanes, seconds: plan.seconds, rate: peak.rate / 2 });
  let isOver = false;
  const over = booking.finally(() => (isOver = true));
  while (!isOver) took.push(...(await preview(1)));
  await over;
  caller.close();
  return [
    { id: "booking.peak", value: peak.rate, unit: "mutations/s", direction: "higher" },
    ...figuresOf("capacity.preview.at-half-peak", took, 10),
  ];
}

function urlOf(system: System): string {
  const [url] = system.urls;
  if (url === undefined) throw new Error("there is no server");
  return url;
}
