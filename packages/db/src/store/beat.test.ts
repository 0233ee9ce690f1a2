/** The beat finds outages and nothing else; what a gate has yet to make up for is in its head. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Database, openDatabase } from "../database.ts";
import { HOUR, T0, batchOf, nodeOf, poolOf } from "../testing/fixtures.ts";
import {
  type ManualClock,
  type TestDatabase,
  manualClock,
  seedPool,
  testDatabase,
} from "../testing/index.ts";
import { createPoolStore } from "./pool-store.ts";
import type { GateHead, PoolStore } from "./types.ts";

let test_: TestDatabase;
let clock: ManualClock;
let db: Database;
let store: PoolStore;
const pool = poolOf(1);

beforeAll(async () => {
  test_ = await testDatabase();
  clock = await manualClock(test_.url, T0);
  db = openDatabase(test_.url, { connections: 2, writers: 2 });
  store = createPoolStore(db);
  await seedPool(db, { config: pool, nodes: [nodeOf(1)] });
});
afterAll(async () => {
  await db.close();
  await clock.close();
  await test_.close();
});
beforeEach(async () => {
  await clock.set(T0);
  await test_.sql`delete from servers`;
  await test_.sql`delete from outages`;
  await test_.sql`update clock set beat_at = null, beat_now = null, outage_to = 0,
    held_since = null, accepted_at = null`;
});

async function head(): Promise<GateHead> {
  const found = await store.head(pool.id);
  if (!found) throw new Error("the gate is there");
  return found;
}

/** As if the last beat of anybody had been so long ago, by both clocks. */
async function silence(ms: number): Promise<void> {
  await clock.advance(ms);
  await test_.sql`update clock set beat_at = beat_at - ${ms}, beat_now = beat_now - ${ms}`;
  await test_.sql`update servers set beat_at = beat_at - ${ms}`;
}

async function recorded() {
  const rows = await test_.sql`select from_at as from, to_at as to from outages order by to_at`;
  return rows.map((row) => ({ ...row }));
}

let batches = 0;
async function write(graceTo?: number): Promise<void> {
  batches += 1;
  const { seq, now } = await head();
  const batch = batchOf(`g${batches}`, { graceTo });
  const outcome = await store.apply({ gateId: pool.id, expectedSeq: seq, batch }, now);
  expect(outcome.ok).toBe(true);
}

test("the first beat of a database ends no outage, however old it is", async () => {
  expect(await head()).toMatchObject({ sinceBeatMs: 0, outages: [], heldSince: null });
  const beat = await store.beat("srv_1");
  expect(beat).toMatchObject({ heldSince: null, outageMs: null, servers: ["srv_1"] });
  expect(Math.abs(beat.wall - Date.now())).toBeLessThan(60_000);
  expect(await recorded()).toEqual([]);
});

test("a silence over 3 s is an outage from the last beat to the first after it", async () => {
  await store.beat("srv_1");
  await silence(5_000);
  expect((await head()).sinceBeatMs).toBeGreaterThanOrEqual(5_000);
  expect(await store.beat("srv_1")).toMatchObject({ outageMs: 5_000 });
  expect(await recorded()).toEqual([{ from: T0, to: T0 + 5_000 }]);
  const after = await head();
  expect(after.outages).toEqual([{ from: T0, to: T0 + 5_000 }]);
  expect(after.sinceBeatMs).toBeLessThan(3_000);
  expect((await store.beat("srv_2")).outageMs).toBeNull();
});

test("a clock by hand is no outage: neither turned between two beats, nor stopped in a silence", async () => {
  await store.beat("srv_1");
  await clock.advance(2 * HOUR);
  expect((await store.beat("srv_1")).outageMs).toBeNull();
  await test_.sql`update clock set beat_at = beat_at - 10000`;
  expect((await head()).sinceBeatMs).toBeGreaterThan(3_000);
  expect((await store.beat("srv_1")).outageMs).toBeNull();
  expect(await recorded()).toEqual([]);
});

test("one server that beats is enough", async () => {
  await store.beat("srv_1");
  await clock.advance(2_500);
  await store.beat("srv_2");
  await clock.advance(2_500);
  expect((await store.beat("srv_1")).outageMs).toBeNull();
});

test("whoever has not beaten for 5 s is not among the servers", async () => {
  await store.beat("srv_1");
  await test_.sql`update servers set beat_at = beat_at - 6000`;
  expect((await store.beat("srv_2")).servers).toEqual(["srv_2"]);
  expect((await store.beat("srv_1")).servers.toSorted()).toEqual(["srv_1", "srv_2"]);
});

test("an outage that follows at once is a part of the one before; a later one is another", async () => {
  await store.beat("srv_1");
  await silence(5_000);
  await store.beat("srv_1");
  await silence(4_000);
  await store.beat("srv_1");
  expect(await recorded()).toEqual([{ from: T0, to: T0 + 9_000 }]);
  await clock.advance(30_000);
  await silence(4_000);
  await store.beat("srv_1");
  expect(await recorded()).toEqual([
    { from: T0, to: T0 + 9_000 },
    { from: T0 + 39_000, to: T0 + 43_000 },
  ]);
  expect((await head()).outages).toHaveLength(2);
});

test("a gate that made up for an outage is not asked again; others still are, due or not", async () => {
  const other = poolOf(2);
  await seedPool(db, { config: other, nodes: [] });
  await store.beat("srv_1");
  await silence(5_000);
  await store.beat("srv_1");
  expect((await store.dueAmong([pool.id, other.id])).toSorted()).toEqual([pool.id, other.id]);
  await write(T0 + 5_000);
  expect(await head()).toMatchObject({ graceTo: T0 + 5_000, outages: [] });
  expect(await store.dueAmong([pool.id, other.id])).toEqual([other.id]);
  await write();
  expect((await head()).graceTo).toBe(T0 + 5_000);
  await clock.advance(HOUR);
  await silence(4_000);
  await store.beat("srv_1");
  expect((await head()).outages).toEqual([{ from: T0 + 5_000 + HOUR, to: T0 + 9_000 + HOUR }]);
});

test("held leases are in every head until the clock is accepted; the time between counts as an outage", async () => {
  const first = await store.beat("srv_1");
  await store.holdLeases(first.wall);
  expect((await head()).heldSince).toBe(T0);
  await clock.advance(HOUR);
  await store.holdLeases(first.wall);
  expect(await store.beat("srv_1")).toMatchObject({ heldSince: T0 });
  const [accepted] = await test_.sql`select berth_accept_clock_v1() as outage`;
  expect(accepted?.["outage"]).toEqual({ from: T0, to: T0 + HOUR });
  expect(await head()).toMatchObject({
    heldSince: null,
    outages: [{ from: T0, to: T0 + HOUR }],
  });
  const [again] = await test_.sql`select berth_accept_clock_v1() as outage`;
  expect(again?.["outage"]).toBeNull();
});

test("a server that saw the accepted leap too late holds nothing again; one that sees a new one does", async () => {
  const before = await store.beat("srv_1");
  await store.holdLeases(before.wall);
  await test_.sql`select berth_accept_clock_v1()`;
  await store.holdLeases(before.wall);
  expect((await head()).heldSince).toBeNull();
  await test_.sql`update clock set accepted_at = accepted_at - 1000`;
  const later = await store.beat("srv_1");
  await store.holdLeases(later.wall);
  expect((await head()).heldSince).not.toBeNull();
});
