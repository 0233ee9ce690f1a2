import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Change, Node, PoolConfig, PoolId } from "@berth/domain";
import type { Database } from "../database.ts";
import { sqlState } from "../errors.ts";
import {
  HOUR,
  T0,
  batchOf,
  bookingOf,
  changed,
  claim,
  created,
  eventOf,
  nodeOf,
  poolOf,
} from "../testing/fixtures.ts";
import { type ManualClock, type TestDatabase, seedPool } from "../testing/index.ts";
import { type StoreRoom, openRoom } from "./test-kit.ts";
import type { ApplyOutcome, GateBatch, PoolStore } from "./types.ts";

let room: StoreRoom;
let test_: TestDatabase;
let clock: ManualClock;
let db: Database;
let store: PoolStore;
let count = 0;
let pool: PoolConfig;
let node: Node;

beforeAll(async () => {
  room = await openRoom(3);
  ({ database: test_, clock, db, store } = room);
});
afterAll(() => room.close());
beforeEach(async () => {
  count += 1;
  pool = poolOf(count);
  node = nodeOf(count);
  await seedPool(db, { config: pool, nodes: [node] });
});

function apply(expectedSeq: number, batch: GateBatch, now = T0): Promise<ApplyOutcome> {
  return store.apply({ gateId: pool.id, expectedSeq, batch }, now);
}
function booking(n: string, change: Partial<Parameters<typeof bookingOf>[2]> = {}) {
  return bookingOf(`${count}${n}`, node, { poolId: pool.id, ...change });
}
async function stored(poolId: PoolId) {
  const rows = await test_.sql<{ id: string; start: number; end: number }[]>`
    select reservation_id as id, lower(during) as start, upper(during) as end
    from bookings where pool_id = ${poolId} order by unit_key, during`;
  return rows.map((row) => ({ ...row }));
}

test("a new pool and its nodes come back as they were written", async () => {
  const loaded = await store.load(pool.id);
  expect(loaded?.head).toMatchObject({ seq: 1, configSeq: 1, fleetSeq: 1, resetSeq: 0, now: T0 });
  expect(loaded?.snapshot.config).toEqual(pool);
  const units = loaded?.snapshot.nodes[0]?.units ?? [];
  expect(units.every(({ key }) => key > 0)).toBe(true);
  expect(loaded?.snapshot.nodes).toEqual([
    { ...node, units: node.units.map((unit, i) => ({ ...unit, key: units[i]?.key })) },
  ]);
});

test("a reservation comes back as it was written, with one booking a unit", async () => {
  const row = booking("1", { units: [0, 1], leaseSeconds: 60, leaseExpiresAt: T0 + 60_000 });
  expect(
    await apply(1, batchOf(`b${count}`, { changes: [created(row)], nextDueAt: row.end })),
  ).toEqual({ ok: true, seq: 2 });
  const loaded = await store.load(pool.id);
  expect(loaded?.snapshot.reservations).toEqual([row]);
  expect(loaded?.head).toMatchObject({ seq: 2, lastAt: T0, nextDueAt: row.end });
  expect(await stored(pool.id)).toHaveLength(2);
});

test("a stale seq writes nothing and answers the present one", async () => {
  const batch = batchOf(`b${count}`, {
    changes: [created(booking("1"))],
    events: [eventOf(count, ["t-a"])],
  });
  expect(await apply(0, batch)).toEqual({ ok: false, kind: "stale", seq: 1 });
  expect(await apply(7, batch)).toEqual({ ok: false, kind: "stale", seq: 1 });
  expect(await stored(pool.id)).toEqual([]);
  expect((await store.head(pool.id))?.seq).toBe(1);
});

test("of two racers on one seq exactly one wins", async () => {
  const racers = await Promise.all(
    ["1", "2"].map((n) => apply(1, batchOf(`b${count}${n}`, { changes: [created(booking(n))] }))),
  );
  expect(racers.filter(({ ok }) => ok)).toEqual([{ ok: true, seq: 2 }]);
  expect(racers.filter(({ ok }) => !ok)).toEqual([{ ok: false, kind: "stale", seq: 2 }]);
  expect(await stored(pool.id)).toHaveLength(1);
});

test("a batch planned over a second ago is told the present time and writes nothing", async () => {
  const batch = batchOf(`b${count}`, { changes: [created(booking("1"))] });
  expect(await apply(1, batch, T0 - 1001)).toEqual({ ok: false, kind: "behind", now: T0 });
  expect((await apply(1, batch, T0 - 1000)).ok).toBe(false); // before the gate's last batch
  expect((await apply(1, batch, T0)).ok).toBe(true);
});

test("a pool's time never runs back when the clock does", async () => {
  await apply(1, batchOf(`b${count}`), T0 + 500);
  expect((await store.head(pool.id))?.now).toBe(T0 + 500);
  expect(await apply(2, batchOf(`b${count}x`), T0)).toEqual({
    ok: false,
    kind: "behind",
    now: T0 + 500,
  });
});

test("a key that exists makes the gate write nothing and names the reservation that has it", async () => {
  const first = booking("1");
  const taken = claim(count, first.id);
  await apply(1, batchOf(`b${count}`, { changes: [created(first)], keys: [taken] }));
  const second = booking("2", { units: [1] });
  const third = booking("3", { units: [2] });
  const batch = batchOf(`b${count}x`, {
    changes: [created(second), created(third)],
    keys: [claim(count, second.id), claim(`${count}new`, third.id)],
    events: [eventOf(count, ["t-a"])],
  });
  expect(await apply(2, batch)).toEqual({ ok: false, kind: "keys", keys: [taken] });
  const keys = await test_.sql`select key from reservation_keys where pool_id = ${pool.id}`;
  expect(keys).toHaveLength(1);
  expect(await stored(pool.id)).toHaveLength(1);
  expect((await store.head(pool.id))?.seq).toBe(2);
});

test("two pools that claim the same keys in opposite order do not deadlock, and one gets them", async () => {
  const other = poolOf(count + 10_000);
  const otherNode = nodeOf(count + 10_000);
  await seedPool(db, { config: other, nodes: [otherNode] });
  const mine = ["1", "2", "3", "4"].map((n, i) => booking(n, { units: [i] }));
  const theirs = ["5", "6", "7", "8"].map((n, i) =>
    bookingOf(`${count}${n}`, otherNode, { poolId: other.id, units: [i] }),
  );
  const outcomes = await Promise.all([
    apply(
      1,
      batchOf(`b${count}`, {
        changes: mine.map(created),
        keys: mine.map((row, i) => claim(`${count}-${i}`, row.id)),
      }),
    ),
    store.apply(
      {
        gateId: other.id,
        expectedSeq: 1,
        batch: batchOf(`b${count}o`, {
          changes: theirs.map(created),
          keys: theirs.map((row, i) => claim(`${count}-${i}`, row.id)).toReversed(),
        }),
      },
      T0,
    ),
  ]);
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  expect(outcomes.find((outcome) => !outcome.ok)).toMatchObject({ kind: "keys" });
});

test("a window that a cut freed is booked in the same batch", async () => {
  const first = booking("1");
  await apply(1, batchOf(`b${count}`, { changes: [created(first)] }));
  await clock.set(T0 + 1000);
  const next = booking("2", { start: T0 + 1000, end: T0 + HOUR });
  const cut = changed(first, { state: "released", endedAt: T0 + 1000, endReason: "released" });
  const outcome = await apply(
    2,
    batchOf(`b${count}x`, { changes: [created(next), cut] }),
    T0 + 1000,
  );
  await clock.set(T0);
  expect(outcome).toEqual({ ok: true, seq: 3 });
  expect(await stored(pool.id)).toEqual([
    { id: first.id, start: T0, end: T0 + 1000 },
    { id: next.id, start: T0 + 1000, end: T0 + HOUR },
  ]);
});

test("a reservation that ended before it began leaves no booking", async () => {
  const later = booking("1", { state: "scheduled", start: T0 + HOUR, end: T0 + 2 * HOUR });
  await apply(1, batchOf(`b${count}`, { changes: [created(later)] }));
  await apply(
    2,
    batchOf(`b${count}x`, { changes: [changed(later, { state: "released", endedAt: T0 })] }),
  );
  expect(await stored(pool.id)).toEqual([]);
  expect((await store.load(pool.id))?.snapshot.reservations).toEqual([]);
});

test("one that is created and over within one batch stores what it used and no more", async () => {
  const never = booking("1", { state: "released", endedAt: T0 });
  const brief = booking("2", { units: [1], state: "released", endedAt: T0 + 5 });
  await apply(1, batchOf(`b${count}`, { changes: [created(never), created(brief)] }));
  expect(await stored(pool.id)).toEqual([{ id: brief.id, start: T0, end: T0 + 5 }]);
});

test("an extension moves the end, and may lean on a neighbour cut in the same batch", async () => {
  const first = booking("1");
  const second = booking("2", { state: "scheduled", start: T0 + HOUR, end: T0 + 2 * HOUR });
  await apply(1, batchOf(`b${count}`, { changes: [created(first), created(second)] }));
  const changes: Change[] = [
    changed(first, { end: T0 + 2 * HOUR }),
    changed(second, { state: "released", endedAt: T0 }),
  ];
  expect((await apply(2, batchOf(`b${count}x`, { changes }))).ok).toBe(true);
  expect(await stored(pool.id)).toEqual([{ id: first.id, start: T0, end: T0 + 2 * HOUR }]);
});

test("two scheduled reservations swap units in one batch", async () => {
  const a = booking("1", { units: [0], state: "scheduled", start: T0 + HOUR, end: T0 + 2 * HOUR });
  const b = booking("2", { units: [1], state: "scheduled", start: T0 + HOUR, end: T0 + 2 * HOUR });
  await apply(1, batchOf(`b${count}`, { changes: [created(a), created(b)] }));
  const changes = [changed(a, { members: b.members }), changed(b, { members: a.members })];
  expect((await apply(2, batchOf(`b${count}x`, { changes }))).ok).toBe(true);
  expect((await stored(pool.id)).map(({ id }) => id)).toEqual([b.id, a.id]);
});

test("a planner that books a unit twice is stopped by the constraint, and nothing of its batch stays", async () => {
  const changes = [created(booking("1")), created(booking("2", { start: T0 + 1 }))];
  const failure = await apply(1, batchOf(`b${count}`, { changes })).catch(
    (error: unknown) => error,
  );
  expect(sqlState(failure)).toBe("23P01");
  expect(await stored(pool.id)).toEqual([]);
  expect((await store.head(pool.id))?.seq).toBe(1);
});

test("an empty window is refused: it would overlap nothing", async () => {
  const insert = db.slots.tx(async (tx) => {
    await tx.q("select set_config('berth.gate', pg_current_xact_id()::text, true)");
    await tx.q("insert into bookings select $1, 'rsv_x', key, int8range(5, 5) from units limit 1", [
      pool.id,
    ]);
  });
  expect(sqlState(await insert.catch((error: unknown) => error))).toBe("23514");
});

test("a unit that is not in the pool cannot be booked through its gate", async () => {
  const foreign = nodeOf(count + 20_000);
  await seedPool(db, { config: poolOf(count + 20_000), nodes: [foreign] });
  const row = bookingOf(`${count}1`, foreign, { poolId: pool.id });
  const failure = await apply(1, batchOf(`b${count}`, { changes: [created(row)] })).catch(
    (error: unknown) => error,
  );
  expect(sqlState(failure)).toBe("23502");
});

test("an event is one row for each tenant that may see it, with that tenant's data", async () => {
  const events = [eventOf(`${count}1`, ["t-a", "t-owner"]), eventOf(`${count}2`, ["t-a"])];
  await apply(1, batchOf(`b${count}`, { events }));
  const rows = await test_.sql`
    select event_id, tenant_id, stream, pool_id, seq, idx, data from events where stream = ${pool.id} order by id`;
  expect(rows.map((row) => ({ ...row }))).toEqual(
    [
      [0, "t-a"],
      [0, "t-owner"],
      [1, "t-a"],
    ].map(([idx, tenant]) => ({
      event_id: events[Number(idx)]?.id,
      tenant_id: tenant,
      stream: pool.id,
      pool_id: pool.id,
      seq: 2,
      idx,
      data: { for: tenant },
    })),
  );
});

test("capacity rows, quota use and the next due instant are what the batch says", async () => {
  const counts = {
    total: 8,
    allocatable: 8,
    allocated: 1,
    reserved: 0,
    available: 7,
    provisioning: 0,
    unhealthy: 0,
    maintenance: 0,
    unreachable: 0,
  };
  const rollup = [{ resource: "gpu" as const, ...counts }];
  const quotaUsed = [{ tenantId: "t-a", resource: "gpu", used: 1 }];
  await apply(1, batchOf(`b${count}`, { rollup, quotaUsed, nextDueAt: T0 - 5 }));
  const read = await store.stored(pool.id);
  expect(read?.rollup).toEqual(rollup);
  expect(read?.used).toContainEqual({ tenantId: "t-a", resource: "gpu", used: 1 });
  expect(await store.due(10)).toContainEqual({ gateId: pool.id, lateMs: 5 });
  expect(await store.dueAmong([pool.id])).toEqual([pool.id]);
  await apply(2, batchOf(`b${count}x`, { nextDueAt: null }));
  expect(await store.dueAmong([pool.id])).toEqual([]);
});

test("a second pool of one id is refused", async () => {
  const batch = batchOf(`b${count}`, { changes: [{ kind: "config", before: null, after: pool }] });
  expect(await apply(0, batch)).toEqual({ ok: false, kind: "exists" });
});

test("a batch of no known gate is an error, and makes none", async () => {
  const unknown = poolOf(count + 30_000).id;
  const write = { gateId: unknown, expectedSeq: 0, batch: batchOf(`b${count}`) };
  expect(sqlState(await store.apply(write, T0).catch((error: unknown) => error))).toBe("BG003");
  expect(await store.head(unknown)).toBeNull();
});
