/** Writes of several pools in one statement: each is judged as if it were alone, and none keeps another back. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Node, PoolConfig } from "@berth/domain";
import { type Database, openDatabase } from "../database.ts";
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
import { seedPool } from "../testing/index.ts";
import { createPoolStore } from "./pool-store.ts";
import { type StoreRoom, openRoom } from "./test-kit.ts";
import type { ApplyOutcome, GateBatch, PoolStore } from "./types.ts";

interface Place {
  readonly pool: PoolConfig;
  readonly node: Node;
}

let room: StoreRoom;
let store: PoolStore;
let sent: string[];
let count = 0;
let a: Place, b: Place, c: Place;

beforeAll(async () => {
  room = await openRoom(4);
});
afterAll(() => room.close());
beforeEach(async () => {
  sent = [];
  store = createPoolStore(listening(room.db));
  [a, b, c] = (await Promise.all([fresh(), fresh(), fresh()])) as [Place, Place, Place];
});

/** The database with every statement that writes noted down. */
function listening(db: Database): Database {
  const run: Database["slots"]["run"] = (text, params) => {
    sent.push(/berth_\w+/.exec(text)?.[0] ?? text);
    return db.slots.run(text, params);
  };
  const slots = new Proxy(db.slots, {
    get: (target, name) => (name === "run" ? run : (Reflect.get(target, name) as unknown)),
  });
  return { ...db, slots };
}

async function fresh(): Promise<Place> {
  count += 1;
  const place = { pool: poolOf(count), node: nodeOf(count) };
  await seedPool(room.db, { config: place.pool, nodes: [place.node] });
  return place;
}

function booking(
  { pool, node }: Place,
  n = "1",
  change: Partial<Parameters<typeof bookingOf>[2]> = {},
) {
  return bookingOf(`${pool.id.slice(-6)}${n}`, node, { poolId: pool.id, ...change });
}

function apply({ pool }: Place, expectedSeq: number, batch: GateBatch, now = T0) {
  return store.apply({ gateId: pool.id, expectedSeq, batch }, now);
}

let batches = 0;
const batch = (part: Partial<GateBatch> = {}): GateBatch =>
  batchOf(`together${(batches += 1)}`, part);

async function bookings({ pool }: Place): Promise<{ id: string; start: number; end: number }[]> {
  const rows = await room.database.sql<{ id: string; start: number; end: number }[]>`
    select reservation_id as id, lower(during) as start, upper(during) as end
    from bookings where pool_id = ${pool.id} order by unit_key, during`;
  return rows.map((row) => ({ ...row }));
}

test("bookings of three pools are one statement, and stored as three would store them", async () => {
  const rows = [a, b, c].map((place) => booking(place, "1", { units: [0, 1] }));
  const outcomes = await Promise.all(
    [a, b, c].map((place, i) =>
      apply(place, 1, batch({ changes: [created(rows[i]!)], nextDueAt: rows[i]!.end })),
    ),
  );
  expect(outcomes).toEqual([a, b, c].map(() => ({ ok: true, seq: 2 })));
  expect(sent).toEqual(["berth_apply_together_v1"]);
  for (const [i, place] of [a, b, c].entries()) {
    const loaded = await store.load(place.pool.id);
    expect(loaded?.snapshot.reservations).toEqual([rows[i]]);
    expect(loaded?.head).toMatchObject({ seq: 2, lastAt: T0, nextDueAt: rows[i]!.end });
    expect(await bookings(place)).toHaveLength(2);
  }
});

test("whatever a batch of bookings does, a gate stores the same of it together and alone", async () => {
  const first = (place: Place) => booking(place, "1", { units: [0] });
  const second = (place: Place) => booking(place, "2", { units: [1, 2] });
  const third = (place: Place) =>
    booking(place, "3", { units: [3], state: "scheduled", start: T0 + HOUR, end: T0 + 2 * HOUR });
  const steps: ((place: Place) => Partial<GateBatch>)[] = [
    (place) => ({
      changes: [first(place), second(place), third(place)].map(created),
      keys: [claim(`${place.pool.id}-k`, first(place).id)],
      events: [eventOf(`${place.pool.id}e`, ["t-a", "t-b"])],
      nextDueAt: T0 + HOUR,
      graceTo: T0 - 1,
    }),
    (place) => ({
      changes: [
        // Cut, extended, dropped, and its freed unit booked again.
        changed(first(place), { state: "released", endedAt: T0 + 5, endReason: "released" }),
        changed(second(place), { end: T0 + 3 * HOUR, version: 2 }),
        changed(third(place), { state: "released", endedAt: T0 }),
        created(booking(place, "4", { units: [0], start: T0 + 5, end: T0 + HOUR })),
      ],
      quotaUsed: [{ tenantId: "t-a", resource: "gpu", used: 3 }],
      rollup: [],
      nextDueAt: null,
    }),
  ];
  for (const [i, step] of steps.entries()) {
    const together = await Promise.all(
      [a, b].map((place) => apply(place, i + 1, batch(step(place)))),
    );
    const alone = await apply(c, i + 1, batch(step(c)));
    expect([...together, alone]).toEqual([a, b, c].map(() => ({ ok: true, seq: i + 2 })));
  }
  expect(sent).toEqual(steps.flatMap(() => ["berth_apply_together_v1", "berth_apply_v1"]));
  expect(await everything(a)).toEqual(await everything(c));
  expect(await everything(b)).toEqual(await everything(c));
});

/** All rows of a pool with the names in them that differ from pool to pool taken out. */
async function everything({ pool, node }: Place): Promise<unknown> {
  const tables = [
    "reservations",
    "bookings",
    "reservation_keys",
    "events",
    "gate_batches",
    "rollups",
    "quotas",
  ];
  const rows = await Promise.all(
    tables.map(async (table) => {
      const column = table === "gate_batches" ? "gate_id" : "pool_id";
      const found = await room.database.sql.unsafe<{ row: Record<string, unknown> }[]>(
        `select to_jsonb(t) as row from ${table} t where ${column} = $1`,
        [pool.id],
      );
      return [table, found.map(({ row }) => plain(row, { pool, node })).toSorted()];
    }),
  );
  const [gate] = await room.database.sql`
    select seq, last_at, config_seq, fleet_seq, reset_seq, grace_to, next_at
    from gates left join pool_due on gate_id = id where id = ${pool.id}`;
  return { rows, gate: { ...gate } };
}

/** Numbers that the database gives out. */
const OF_THE_WRITE = new Set(["unit_key", "batch_id", "xid"]);

function plain(row: Record<string, unknown>, { pool, node }: Place): string {
  const kept = Object.entries(row).filter(
    ([name, value]) => !OF_THE_WRITE.has(name) && !(name === "id" && typeof value === "number"),
  );
  return JSON.stringify(Object.fromEntries(kept))
    .replaceAll(pool.id, "POOL")
    .replaceAll(node.id, "NODE")
    .replaceAll(new RegExp(`_0*${pool.id.slice(-6)}`, "g"), "_N")
    .replaceAll(/unit_\w+/g, "UNIT");
}

test("one that is stale or behind is told so, its neighbour is written", async () => {
  await apply(b, 1, batch({ changes: [] }), T0 + 900);
  const outcomes = await Promise.all([
    apply(a, 7, batch({ changes: [created(booking(a))] })),
    apply(b, 2, batch({ changes: [created(booking(b))] })),
    apply(c, 1, batch({ changes: [created(booking(c))] })),
  ]);
  expect(outcomes).toEqual([
    { ok: false, kind: "stale", seq: 1 },
    { ok: false, kind: "behind", now: T0 + 900 },
    { ok: true, seq: 2 },
  ]);
  expect(sent).toEqual(["berth_apply_v1", "berth_apply_together_v1"]);
  expect([await bookings(a), await bookings(b)]).toEqual([[], []]);
  expect(await bookings(c)).toHaveLength(1);
});

test("one whose key is taken learns by whom and stores nothing, its neighbour is written", async () => {
  const taken = claim(`${a.pool.id}`, booking(c, "0").id);
  await apply(c, 1, batch({ changes: [created(booking(c, "0"))], keys: [taken] }));
  const [mine, free] = [booking(a), booking(a, "2", { units: [1] })];
  const outcomes = await Promise.all([
    apply(
      a,
      1,
      batch({
        changes: [created(mine), created(free)],
        keys: [{ ...taken, reservationId: mine.id }, claim(`${a.pool.id}free`, free.id)],
      }),
    ),
    apply(b, 1, batch({ changes: [created(booking(b))], keys: [claim(b.pool.id, booking(b).id)] })),
  ]);
  expect(outcomes).toEqual([
    { ok: false, kind: "keys", keys: [taken] },
    { ok: true, seq: 2 },
  ]);
  const keys = await room.database
    .sql`select key from reservation_keys where pool_id = ${a.pool.id}`;
  expect([...keys]).toEqual([]);
  expect(await bookings(a)).toEqual([]);
  expect((await store.head(a.pool.id))?.seq).toBe(1);
});

test("what is put on file is stored with its batch, together and alone, and not without it", async () => {
  const entry = (target: string) => ({
    principal: "key:t-a:filing",
    tenantId: "t-a",
    method: "reservations.create",
    target,
    requestId: "req",
  });
  const write = (place: Place, expectedSeq = 1) => {
    const row = booking(place);
    const filed = { changes: [created(row)], audit: [entry(row.id)] };
    return apply(place, expectedSeq, batch(filed));
  };
  const filed = async () => {
    const { sql } = room.db;
    const rows = await sql<{ target: string }[]>`
      select target from audit where principal = 'key:t-a:filing' order by target`;
    return rows.map(({ target }) => target);
  };
  const targets = (...places: Place[]) => places.map((place) => booking(place).id).toSorted();
  const outcomes = await Promise.all([write(a), write(b, 7), write(c)]);
  expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true]);
  expect(sent).toEqual(["berth_apply_together_v1"]);
  expect(await filed()).toEqual(targets(a, c));
  expect((await write(b, 7)).ok).toBe(false);
  expect(await filed()).toEqual(targets(a, c));
  expect((await write(b)).ok).toBe(true);
  expect(sent).toEqual(["berth_apply_together_v1", "berth_apply_v1", "berth_apply_v1"]);
  expect(await filed()).toEqual(targets(a, b, c));
});

test("two pools that claim one key together: one has it, the other is told of that one", async () => {
  const [mine, theirs] = [booking(a), booking(b)];
  const key = claim(`${a.pool.id}shared`, mine.id);
  const outcomes = await Promise.all([
    apply(a, 1, batch({ changes: [created(mine)], keys: [key] })),
    apply(
      b,
      1,
      batch({ changes: [created(theirs)], keys: [{ ...key, reservationId: theirs.id }] }),
    ),
    apply(c, 1, batch({ changes: [created(booking(c))] })),
  ]);
  expect(outcomes).toEqual([
    { ok: true, seq: 2 },
    { ok: false, kind: "keys", keys: [key] },
    { ok: true, seq: 2 },
  ]);
  expect(await bookings(b)).toEqual([]);
});

test("servers that claim the same keys over many pools in opposite order do not deadlock", async () => {
  const other = openDatabase(room.database.url, { connections: 1, writers: 2 });
  try {
    const stores = [store, createPoolStore(other)];
    for (let round = 0; round < 5; round += 1) {
      const places = await Promise.all([fresh(), fresh(), fresh(), fresh()]);
      const outcomes = await Promise.all(
        places.map((place, i) => {
          const rows = ["1", "2", "3"].map((n, unit) => booking(place, n, { units: [unit] }));
          const keys = rows.map((row, k) => claim(`${round}-${i < 2 ? k : 2 - k}`, row.id));
          const write = {
            gateId: place.pool.id,
            expectedSeq: 1,
            batch: batch({ changes: rows.map(created), keys }),
          };
          return (stores[i % 2] as PoolStore).apply(write, T0);
        }),
      );
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
      for (const outcome of outcomes) if (!outcome.ok) expect(outcome.kind).toBe("keys");
    }
  } finally {
    await other.close();
  }
});

test("a pool that somebody holds keeps nobody else back, and is written when it is let go", async () => {
  const held = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  const holding = room.store.locked(a.pool.id, async () => {
    held.resolve();
    await letGo.promise;
  });
  await held.promise;
  const waits = apply(a, 1, batch({ changes: [created(booking(a))] }));
  const others = await Promise.all(
    [b, c].map((place) => apply(place, 1, batch({ changes: [created(booking(place))] }))),
  );
  expect(others).toEqual([
    { ok: true, seq: 2 },
    { ok: true, seq: 2 },
  ]);
  expect(await bookings(a)).toEqual([]);
  letGo.resolve();
  await holding;
  expect(await waits).toEqual({ ok: true, seq: 2 });
  expect(await bookings(a)).toHaveLength(1);
});

test("a batch that the database refuses fails alone", async () => {
  await apply(a, 1, batch({ changes: [created(booking(a))] }));
  const outcomes = await Promise.allSettled([
    apply(a, 2, batch({ changes: [created(booking(a, "twice"))] })),
    apply(b, 1, batch({ changes: [created(booking(b))] })),
    apply(c, 1, batch({ changes: [changed(booking(b), { version: 2 })].slice(0, 0) })),
  ]);
  expect(outcomes).toMatchObject([
    { status: "rejected", reason: { code: "23P01" } },
    { status: "fulfilled", value: { ok: true, seq: 2 } },
    { status: "fulfilled", value: { ok: true, seq: 2 } },
  ]);
  expect(await bookings(b)).toHaveLength(1);
});

test("a reservation or a unit of another pool is refused, as it is alone", async () => {
  const row = booking(b);
  await apply(b, 1, batch({ changes: [created(row)] }));
  const foreign = changed({ ...row, poolId: a.pool.id }, { version: 2 });
  const unit = created(bookingOf(`${count}x`, b.node, { poolId: a.pool.id }));
  for (const [n, change] of [foreign, unit].entries()) {
    const outcomes: PromiseSettledResult<ApplyOutcome>[] = await Promise.allSettled([
      apply(a, 1, batch({ changes: [change] })),
      apply(c, n + 1, batch({ changes: [created(booking(c, String(n), { units: [n] }))] })),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  }
});

test("two writes of one pool are one after the other", async () => {
  const outcomes = await Promise.all([
    apply(a, 1, batch({ changes: [created(booking(a, "1"))] })),
    apply(a, 1, batch({ changes: [created(booking(a, "2"))] })),
    apply(b, 1, batch({ changes: [created(booking(b))] })),
  ]);
  expect(outcomes).toEqual([
    { ok: true, seq: 2 },
    { ok: false, kind: "stale", seq: 2 },
    { ok: true, seq: 2 },
  ]);
});
