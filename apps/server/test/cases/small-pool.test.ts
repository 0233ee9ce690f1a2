/** With few connections to the database calls wait their turn; none waits for one that itself waits. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";
import { asker, bookGpus, gpuRequest, range, release } from "./asking.ts";
import { expectConsistent, expectEmptyAfterRelease } from "./invariants.ts";

const ROUNDS = 10;
const CALLS = 60;
const POOLS = 6;
/** What the whole server has: two that read, two that write. */
const CONNECTIONS = 4;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ config: { databaseConnections: CONNECTIONS } });
});
afterAll(async () => {
  await server.stop();
});

it("bursts of sixty mixed calls settle in time, ten times over, and leave the server as quick as before", async () => {
  const fleets = await Promise.all(range(POOLS).map(() => server.fleet(pool(2, 8))));
  const berth = await server.as("t-a");
  const [first] = fleets;
  if (!first) throw new Error("the pools were made");
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    const calls = range(CALLS).map((i) => mixed(fleets[i % POOLS] as Fleet, round * CALLS + i));
    const settled = await Promise.allSettled(calls);
    expect(settled.filter(({ status }) => status === "rejected")).toEqual([]);
    expect(performance.now() - started).toBeLessThan(15_000);
    const asked = performance.now();
    await berth.pools.list({ tenantId: "t-a" });
    expect(performance.now() - asked).toBeLessThan(1_000);
    const a = await asker(server, "t-a", first);
    await release(a, await bookGpus(a, 1));
    expect(await leftOpen()).toEqual([]);
    expect(await opened()).toBeLessThanOrEqual(CONNECTIONS);
  }
  for (const fleet of fleets) await expectConsistent(server, fleet);
  await expectEmptyAfterRelease(server, first);
}, 180_000);

/** A call of one of five kinds; none of them can be refused. */
async function mixed(fleet: Fleet, i: number): Promise<unknown> {
  const { owner: tenantId, poolId } = fleet;
  const a = await asker(server, "t-a", fleet);
  const { pools } = server.admin;
  switch (Math.floor(i / POOLS) % 5) {
    case 0:
      return bookGpus(a, 1).then((mine) => release(a, mine));
    case 1:
      return a.berth.capacity.preview(gpuRequest(a, 2));
    case 2:
      return pools.offer({ tenantId, poolId, toTenantId: "t-a", quota: { gpu: 500 + i } });
    case 3:
      return pools.update({ tenantId, poolId, policy: { label: `label ${i}` } });
    default:
      return bookGpus(a, 2).then((mine) => release(a, mine));
  }
}

/** The server's connections that sit in an open transaction with nothing to do. */
async function leftOpen(): Promise<unknown[]> {
  const rows = await server.database.sql`
    select application_name, query from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'
      and state_change < now() - interval '5 seconds'`;
  return [...rows];
}

/** How many connections the server has. */
async function opened(): Promise<number> {
  const [row] = await server.database.sql<{ opened: number }[]>`
    select count(*) as opened from pg_stat_activity
    where datname = current_database() and application_name like 'berth%'`;
  return row?.opened ?? 0;
}
