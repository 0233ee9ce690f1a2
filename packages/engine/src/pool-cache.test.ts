import { buildNode, buildReservation } from "@berth/domain/testing";
import { expect, test } from "vitest";
import { PoolCache } from "./pool-cache.ts";
import { NOW, POOL, storeWithPool } from "./testing/fixtures.ts";
import type { MemoryStore } from "./testing/memory-store.ts";

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

test("rows that do not go with what is held are refused once, and the pool is loaded again", async () => {
  const store = await storeWithPool(1, 2);
  const cache = new PoolCache(POOL, store, async () => undefined);
  await cache.refresh();
  const stray = buildReservation(1, { node: buildNode(9), unitIds: [] }, { start: 0, end: 1 });
  const head = store.head.bind(store);
  const delta = store.delta.bind(store);
  store.head = async (gateId) => {
    const found = await head(gateId);
    return found && { ...found, seq: found.seq + 1 };
  };
  store.delta = async (gateId, since) => {
    const found = await delta(gateId, since);
    const newer = { ...found.head, seq: found.head.seq + 1 };
    return { ...found, head: newer, reservations: [stray] };
  };
  await expect(cache.refresh()).rejects.toThrow("which is not in its gate");
  store.head = head;
  expect(await cache.refresh()).toMatchObject({ seq: 1, exists: true });
  expect(cache.newest(0)?.state.reservation(stray.id)).toBeUndefined();
});

const MINUTE = 60_000;

/** Nobody is there for a minute. */
function outageOf(store: MemoryStore): void {
  store.wall += MINUTE;
  store.clock += MINUTE;
}

// Found by the simulation: seed 30014.
test("an outage is known before anything is planned, though a beat from before it was still on its way", async () => {
  const store = await storeWithPool(1, 2);
  await store.beat("srv_1");
  const beats = [async () => undefined, () => store.beat("srv_1")];
  const cache = new PoolCache(POOL, store, async () => void (await beats.shift()?.()));
  await cache.refresh();
  outageOf(store);
  const view = await cache.refresh();
  expect(view?.clock.outages).toEqual([{ from: NOW, to: NOW + MINUTE }]);
});

test("an outage between the head and the rows that are read after it is known as well", async () => {
  const store = await storeWithPool(1, 2);
  await store.beat("srv_1");
  const cache = new PoolCache(POOL, store, async () => void (await store.beat("srv_1")));
  await cache.refresh();
  await store.outcome(POOL, "a batch that was never written");
  const delta = store.delta.bind(store);
  store.delta = (gateId, since) => {
    outageOf(store);
    store.delta = delta;
    return delta(gateId, since);
  };
  expect(await cache.refresh()).toMatchObject({
    now: NOW + MINUTE,
    clock: { outages: [{ from: NOW, to: NOW + MINUTE }] },
  });
});
