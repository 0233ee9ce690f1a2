/** Waiters, and bookings that are held before they start, through the gate. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Change, Node, Pin, PoolConfig, Reservation, Waiter } from "@berth/domain";
import type { Database } from "../database.ts";
import {
  HOUR,
  T0,
  batchOf,
  bookingOf,
  changed,
  created,
  nodeOf,
  poolOf,
  waiterOf,
} from "../testing/fixtures.ts";
import { type TestDatabase, seedPool } from "../testing/index.ts";
import { type StoreRoom, openRoom } from "./test-kit.ts";
import type { ApplyOutcome, PoolStore } from "./types.ts";

let room: StoreRoom;
let test_: TestDatabase;
let db: Database;
let store: PoolStore;
let count = 0;
let batches = 0;
let pool: PoolConfig;
let node: Node;

beforeAll(async () => {
  room = await openRoom(2);
  ({ database: test_, db, store } = room);
});
afterAll(() => room.close());
beforeEach(async () => {
  count += 1;
  pool = poolOf(count);
  node = nodeOf(count);
  await seedPool(db, { config: pool, nodes: [node] });
});

async function apply(changes: readonly Change[], now = T0): Promise<ApplyOutcome> {
  batches += 1;
  const expectedSeq = (await store.head(pool.id))?.seq ?? 0;
  return store.apply(
    { gateId: pool.id, expectedSeq, batch: batchOf(`w${batches}`, { changes }) },
    now,
  );
}
const wait = (before: Waiter | null, after: Waiter | null): Change => ({
  kind: "waiter",
  before,
  after,
});
async function waiting() {
  return (await store.load(pool.id))?.snapshot.waiters;
}
async function held() {
  const rows = await test_.sql<{ unit: string; start: number; end: number }[]>`
    select u.id as unit, lower(b.during) as start, upper(b.during) as end
    from bookings b join units u on u.key = b.unit_key
    where b.pool_id = ${pool.id} order by u.index, b.during`;
  return rows.map((row) => ({ ...row }));
}

test("a waiter comes back as it was written, with a key and without", async () => {
  const [keyed, bare] = [
    waiterOf(`${count}1`, pool.id),
    waiterOf(`${count}2`, pool.id, { key: null }),
  ];
  await apply([wait(null, keyed), wait(null, bare)]);
  expect(await waiting()).toEqual([keyed, bare]);
});

test("one that was served or gave up is gone from loads, and followers learn of it", async () => {
  const waiter = waiterOf(`${count}1`, pool.id);
  await apply([wait(null, waiter)]);
  const since = await store.head(pool.id);
  const served = bookingOf(`${count}1`, node, { poolId: pool.id });
  await apply([wait(waiter, null), created(served)]);
  expect(await waiting()).toEqual([]);
  const delta = since && (await store.delta(pool.id, since));
  expect(delta?.waiters).toEqual([{ id: waiter.id, waiter: null }]);
  expect(delta?.reservations).toEqual([served]);
});

test("one that came and went within a batch was never there", async () => {
  expect((await apply([wait(null, null)])).ok).toBe(true);
  expect(await waiting()).toEqual([]);
});

test("one that was done an hour ago is forgotten, and whoever may not know it loads again", async () => {
  const waiter = waiterOf(`${count}1`, pool.id);
  const stays = waiterOf(`${count}2`, pool.id);
  await apply([wait(null, waiter), wait(null, stays)]);
  const old = await store.head(pool.id);
  await apply([wait(waiter, null)]);
  const fresh = await store.head(pool.id);
  const later = T0 + HOUR + 1;
  for (let seq = fresh?.seq ?? 0; seq < 256; seq += 1) {
    // The gate forgets with every 256th of its batches.
    expect((await apply([], later)).ok).toBe(true);
  }
  const rows = await test_.sql`select id from waiters where pool_id = ${pool.id}`;
  expect(rows.map(({ id }) => id as string)).toEqual([stays.id]);
  expect(old && (await store.delta(pool.id, old))).toMatchObject({ reset: true, waiters: [] });
  expect(fresh && (await store.delta(pool.id, fresh))).toMatchObject({ reset: false });
});

test("what early victims gave back is held for the preemptor from then on, and unpinned at its start", async () => {
  const c = T0 + 600_000;
  const [victim, preemptor] = [
    bookingOf(`${count}1`, node, {
      poolId: pool.id,
      units: [0, 1],
      state: "preempting",
      startedAt: T0,
      end: c,
      preemption: { noticeAt: T0, endsAt: c, byId: "rsv_x", originalEnd: T0 + HOUR },
    }),
    bookingOf(`${count}2`, node, {
      poolId: pool.id,
      units: [0, 1, 2],
      state: "scheduled",
      start: c,
      end: c + HOUR,
    }),
  ];
  await apply([created(victim), created(preemptor)]);
  expect((await store.load(pool.id))?.snapshot.reservations).toEqual([victim, preemptor]);
  const left = T0 + 1_000;
  const pins: Pin[] = [
    {
      nodeId: node.id,
      unitIds: victim.members[0]?.unitIds ?? [],
      resources: { vcpu: 1, memoryGiB: 0, hugepages1Gi: 0 },
      from: left,
    },
  ];
  const pinned: Reservation = { ...preemptor, pins };
  const over = { state: "released" as const, endedAt: left, endReason: "released" };
  await apply([changed(preemptor, { pins }), changed(victim, over)], left);
  const [a, b, c2] = node.units.map(({ id }) => id);
  expect(await held()).toEqual([
    { unit: a, start: T0, end: left },
    { unit: a, start: left, end: c + HOUR },
    { unit: b, start: T0, end: left },
    { unit: b, start: left, end: c + HOUR },
    { unit: c2, start: c, end: c + HOUR },
  ]);
  expect((await store.load(pool.id))?.snapshot.reservations).toEqual([{ ...pinned, version: 2 }]);
  await apply([changed(pinned, { pins: [], state: "active", startedAt: c })], c);
  expect((await held()).filter(({ start }) => start >= left)).toEqual(
    [a, b, c2].map((unit) => ({ unit, start: c, end: c + HOUR })),
  );
});

test("a preemptor that ends before its start leaves no booking, pinned or not", async () => {
  const pins: Pin[] = [
    {
      nodeId: node.id,
      unitIds: node.units.slice(0, 1).map(({ id }) => id),
      resources: { vcpu: 0, memoryGiB: 0, hugepages1Gi: 0 },
      from: T0,
    },
  ];
  const window = { start: T0 + HOUR, end: T0 + 2 * HOUR, state: "scheduled" as const };
  const row = bookingOf(`${count}1`, node, { poolId: pool.id, units: [0, 1], ...window, pins });
  await apply([created(row)]);
  expect(await held()).toHaveLength(2);
  await apply([changed(row, { state: "released", endedAt: T0 + 5, endReason: "x" })], T0 + 5);
  expect(await held()).toEqual([]);
});
