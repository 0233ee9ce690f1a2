import { expect, test } from "vitest";
import { PoolCache } from "./pool-cache.ts";
import { POOL, storeWithPool } from "./testing/fixtures.ts";

test("a cache that is dropped while its head is asked for is loaded again, not taken for a pool that is gone", async () => {
  const store = await storeWithPool(1, 2);
  const cache = new PoolCache(POOL, store, async () => undefined);
  await cache.refresh();
  const head = store.head.bind(store);
  store.head = async (gateId) => {
    const found = await head(gateId);
    cache.drop();
    return found;
  };
  expect(await cache.refresh()).toMatchObject({ seq: 1, exists: true });
});

test("a pool that is not there is null, and the next look finds it once it is", async () => {
  const store = await storeWithPool(1, 2);
  const other = "pool_00000000000000000000000009";
  const cache = new PoolCache(other, store, async () => undefined);
  expect(await cache.refresh()).toBeNull();
  const gate = store.gates.get(POOL);
  if (gate) store.gates.set(other, gate);
  expect(await cache.refresh()).toMatchObject({ seq: 1, exists: true });
});
