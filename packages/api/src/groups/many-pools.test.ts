/** Reads over all of a tenant's pools ask the database as often for five hundred as for twenty. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { BookingApi } from "./test-kit.ts";

const TENANT = { tenantId: "t-many" } as const;
const OWNER = { tenantId: "t-own" } as const;
const AT_ONCE = 25;

let api: BookingApi;
beforeAll(async () => {
  api = await BookingApi.open();
  await api.call("fleet.putTenant", TENANT);
});
afterAll(() => api.close());

let made = 0;

/** Offers pools to the tenant until it sees so many. */
async function see(pools: number): Promise<void> {
  while (made < pools) {
    const more = Math.min(AT_ONCE, pools - made);
    await Promise.all(
      Array.from({ length: more }, async () => {
        const poolId = await api.pool(0, 0);
        const quota = { gpu: 1 };
        await api.call("pools.offer", { ...OWNER, poolId, toTenantId: TENANT.tenantId, quota });
      }),
    );
    made += more;
  }
}

it("capacity.summary and pools.list: as many statements for 500 pools as for 20", async () => {
  const reads = ["capacity.summary", "pools.list"] as const;
  const counts = async (): Promise<number[]> => {
    const found: number[] = [];
    for (const read of reads) found.push(await api.statements(read, TENANT));
    return found;
  };
  await see(20);
  expect((await api.call("pools.list", TENANT)).pools).toHaveLength(20);
  const few = await counts();
  await see(500);
  expect((await api.call("pools.list", TENANT)).pools).toHaveLength(500);
  expect((await api.call("capacity.summary", TENANT)).pools).toHaveLength(500);
  expect(await counts()).toEqual(few);
  for (const count of few) expect(count).toBeLessThan(10);
}, 120_000);
