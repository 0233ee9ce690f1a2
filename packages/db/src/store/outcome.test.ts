/** A write whose answer was lost: it is found, or it can never land any more. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Node, PoolConfig } from "@berth/domain";
import { type Database, openDatabase } from "../database.ts";
import { UnknownOutcome, sqlState } from "../errors.ts";
import { T0, batchOf, bookingOf, created, nodeOf, poolOf } from "../testing/fixtures.ts";
import {
  type FaultProxy,
  type ManualClock,
  type TestDatabase,
  faultProxy,
  manualClock,
  seedPool,
  testDatabase,
} from "../testing/index.ts";
import { waitFor, waitForLockWaiters } from "../testing/wait-for.ts";
import { createPoolStore } from "./pool-store.ts";
import type { GateWrite, PoolStore } from "./types.ts";

let test_: TestDatabase;
let clock: ManualClock;
let proxy: FaultProxy;
let direct: Database;
let broken: Database;
let store: PoolStore;
let lossy: PoolStore;
let count = 0;
let pool: PoolConfig;
let node: Node;

beforeAll(async () => {
  test_ = await testDatabase();
  clock = await manualClock(test_.url, T0);
  proxy = await faultProxy(test_.url);
  direct = openDatabase(test_.url, { connections: 2, writers: 4 });
  broken = openDatabase(proxy.url, { connections: 2, writers: 2 });
  store = createPoolStore(direct);
  lossy = createPoolStore(broken);
});
afterAll(async () => {
  await Promise.all([broken.close(), direct.close(), clock.close()]);
  await proxy.close();
  await test_.close();
});
beforeEach(async () => {
  count += 1;
  pool = poolOf(count);
  node = nodeOf(count);
  await seedPool(direct, { config: pool, nodes: [node] });
  proxy.set();
});

function write(): GateWrite {
  const row = bookingOf(count, node, { poolId: pool.id });
  return {
    gateId: pool.id,
    expectedSeq: 1,
    batch: batchOf(`b${count}`, { changes: [created(row)] }),
  };
}
async function bookings(): Promise<number> {
  const [row] = await test_.sql<{ n: number }[]>`
    select count(*) as n from bookings where pool_id = ${pool.id}`;
  return row?.n ?? 0;
}
/** Holds the gate's lock until let go. */
async function holdLock(): Promise<() => Promise<void>> {
  const letGo = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const done = direct.slots.tx(async (tx) => {
    await tx.q("select from gates where id = $1 for no key update", [pool.id]);
    held.resolve();
    await letGo.promise;
  });
  await held.promise;
  return async () => {
    letGo.resolve();
    await done;
  };
}

test("a write that was answered into a dead connection is found", async () => {
  proxy.set({ kind: "cut", on: /berth_apply_v1/, at: "after" });
  await expect(lossy.apply(write(), T0)).rejects.toBeInstanceOf(UnknownOutcome);
  expect(await store.outcome(pool.id, `b${count}`)).toEqual({ seq: 2 });
  expect(await bookings()).toBe(1);
});

test("a write that never arrived is not found, and its number is used up", async () => {
  proxy.set({ kind: "cut", on: /berth_apply_v1/, at: "before" });
  await expect(lossy.apply(write(), T0)).rejects.toBeInstanceOf(UnknownOutcome);
  expect(await store.outcome(pool.id, `b${count}`)).toBeNull();
  expect(await store.apply(write(), T0)).toEqual({ ok: false, kind: "stale", seq: 2 });
  expect(await bookings()).toBe(0);
});

test("a write that runs on alone is waited for", async () => {
  const release = await holdLock();
  proxy.set({ kind: "cut", on: /berth_apply_v1/, at: "zombie" });
  const lost = lossy.apply(write(), T0).catch((error: unknown) => error);
  await waitForLockWaiters(test_.sql, 1);
  expect(await lost).toBeInstanceOf(UnknownOutcome);
  const asked = store.outcome(pool.id, `b${count}`);
  await waitForLockWaiters(test_.sql, 2);
  await release();
  expect(await asked).toEqual({ seq: 2 });
  expect(await bookings()).toBe(1);
});

test("a write that comes after it was asked for is fenced off", async () => {
  const release = await holdLock();
  const asked = store.outcome(pool.id, `b${count}`);
  await waitForLockWaiters(test_.sql, 1);
  proxy.set({ kind: "cut", on: /berth_apply_v1/, at: "zombie" });
  const lost = lossy.apply(write(), T0).catch((error: unknown) => error);
  await waitForLockWaiters(test_.sql, 2);
  await release();
  expect(await asked).toBeNull();
  expect(await lost).toBeInstanceOf(UnknownOutcome);
  await waitForLockWaiters(test_.sql, 0);
  expect(await bookings()).toBe(0);
  expect((await store.head(pool.id))?.seq).toBe(2);
});

test("the pool that a lost write was making is made or fenced, too", async () => {
  const made = poolOf(count + 10_000);
  const batch = batchOf(`p${count}`, { changes: [{ kind: "config", before: null, after: made }] });
  expect(await store.outcome(made.id, batch.id)).toBeNull();
  const late = { gateId: made.id, expectedSeq: 0, batch };
  expect(await store.apply(late, T0)).toEqual({ ok: false, kind: "stale", seq: 1 });
  expect(await store.apply({ ...late, expectedSeq: 1 }, T0)).toEqual({ ok: true, seq: 2 });
  expect((await store.load(made.id))?.snapshot.config).toEqual(made);
});

test("losses at random points never make a write happen twice or vanish after it was acknowledged", async () => {
  let seq = 1;
  let acknowledged = 0;
  const at = ["before", "after", "zombie"] as const;
  for (let n = 0; n < 24; n += 1) {
    proxy.set({ kind: "cut", on: /berth_apply_v1/, at: at[n % 3] ?? "before", probability: 0.6 });
    const row = bookingOf(`${count}${n}`, node, {
      poolId: pool.id,
      start: T0 + n * 10,
      end: T0 + n * 10 + 10,
    });
    const batch = batchOf(`b${count}-${n}`, { changes: [created(row)] });
    for (let written = false; !written;) {
      const outcome = await lossy
        .apply({ gateId: pool.id, expectedSeq: seq, batch }, T0)
        .catch(async (error: unknown) => {
          if (!(error instanceof UnknownOutcome)) throw error;
          const found = await store.outcome(pool.id, batch.id);
          return found ? { ok: true as const, seq: found.seq } : null;
        });
      written = outcome?.ok === true;
      acknowledged += written ? 1 : 0;
      seq = (await store.head(pool.id))?.seq ?? seq;
    }
  }
  await waitFor(async () => (await bookings()) === acknowledged, "the last zombie");
  expect(acknowledged).toBe(24);
});

test("a planner waits two seconds for the lock and no longer, and may come again", async () => {
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holder = store.locked(pool.id, () => {
    locked.resolve();
    return held.promise;
  });
  await locked.promise;
  const since = performance.now();
  const late = await store.locked(pool.id, () => Promise.resolve("in")).catch((e: unknown) => e);
  const waited = performance.now() - since;
  held.resolve();
  await holder;
  expect(sqlState(late)).toBe("55P03");
  expect(store.failureOf(late)).toEqual({ kind: "transient" });
  expect(waited).toBeGreaterThanOrEqual(1_900);
  // The connection's own limit is 3 s.
  expect(waited).toBeLessThan(2_900);
  expect(await store.locked(pool.id, () => Promise.resolve("in"))).toBe("in");
});

test("under the lock a planner reads the newest state and its write cannot be stale", async () => {
  const seqs = await Promise.all(
    [0, 1, 2, 3].map((unit) =>
      store.locked(pool.id, async (locked) => {
        const head = await locked.head(pool.id);
        const row = bookingOf(`${count}${unit}`, node, { poolId: pool.id, units: [unit] });
        const batch = batchOf(`l${count}-${unit}`, { changes: [created(row)] });
        return locked.apply(head?.seq ?? 0, head?.now ?? 0, batch);
      }),
    ),
  );
  expect(seqs.every(({ ok }) => ok)).toBe(true);
  expect((await store.head(pool.id))?.seq).toBe(5);
});
