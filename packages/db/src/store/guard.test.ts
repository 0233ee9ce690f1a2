/** Pool data changes through the gate or not at all: servers plan on what its sequence numbered. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { getTableName, is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { type Database, openDatabase } from "../database.ts";
import { sqlState } from "../errors.ts";
import * as schema from "../schema/index.ts";
import {
  T0,
  batchOf,
  bookingOf,
  claim,
  created,
  fenceOf,
  nodeOf,
  poolOf,
  waiterOf,
} from "../testing/fixtures.ts";
import { type TestDatabase, seedPool, testDatabase } from "../testing/index.ts";
import { createPoolStore } from "./pool-store.ts";

/** Tables that no gate's sequence speaks for. A new table is guarded unless it is named here. */
const FREE = [
  "api_keys",
  "audit",
  "clock",
  "events",
  "meta",
  "outages",
  "provider_accounts",
  "servers",
  "sites",
  "streams",
  "tenants",
];

const guarded = Object.values(schema)
  .filter((table) => is(table, PgTable))
  .map((table) => getTableName(table))
  .filter((name) => !FREE.includes(name))
  .toSorted();

let test_: TestDatabase;
let db: Database;

beforeAll(async () => {
  test_ = await testDatabase();
  db = openDatabase(test_.url, { connections: 2, writers: 2 });
  const pool = poolOf(1, { createdAt: 0 });
  const node = nodeOf(1, 8, {
    maintenance: [{ id: "mnt_1", start: T0, end: T0 + 1, active: false }],
  });
  await seedPool(db, { config: pool, nodes: [node] });
  const store = createPoolStore(db);
  const row = bookingOf(1, node, { poolId: pool.id });
  const counts = { total: 8, allocatable: 8, allocated: 1, reserved: 0, available: 7 };
  const out = { provisioning: 0, unhealthy: 0, maintenance: 0, unreachable: 0 };
  const batch = batchOf("b", {
    changes: [
      created(row),
      { kind: "unitReservation", before: null, after: fenceOf(1, node, { units: [7] }) },
      { kind: "waiter", before: null, after: waiterOf(2, pool.id) },
    ],
    keys: [claim(1, row.id)],
    rollup: [{ resource: "gpu", ...counts, ...out }],
  });
  await store.apply({ gateId: pool.id, expectedSeq: 1, batch }, await store.now());
});
afterAll(async () => {
  await db.close();
  await test_.close();
});

test("the guarded tables are the pool's tables", () => {
  expect(guarded).toEqual([
    "bookings",
    "gate_batches",
    "gates",
    "maintenance",
    "nodes",
    "offers",
    "pool_authz",
    "pool_due",
    "pools",
    "quotas",
    "reservation_keys",
    "reservations",
    "rollups",
    "unit_reservations",
    "unit_terms",
    "units",
    "waiters",
  ]);
});

async function columnOf(table: string): Promise<string> {
  const [row] = await test_.sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and attidentity = '' order by attnum limit 1`;
  return row?.name ?? "";
}

async function rowsOf(table: string): Promise<number> {
  const [row] = await test_.sql.unsafe<{ n: number }[]>(`select count(*) as n from ${table}`);
  return row?.n ?? 0;
}

test.each(guarded)(
  "%s refuses update, delete, insert and truncate outside the gate",
  async (table) => {
    const before = await rowsOf(table);
    expect(before).toBeGreaterThan(0);
    const column = await columnOf(table);
    const statements = [
      `update ${table} set ${column} = ${column}`,
      `delete from ${table}`,
      `insert into ${table} (${column}) select ${column} from ${table}`,
      `truncate ${table} cascade`,
    ];
    for (const statement of statements) {
      const failure = await db.slots.run(statement).catch((error: unknown) => error);
      expect(sqlState(failure), statement).toBe("BG001");
    }
    expect(await rowsOf(table)).toBe(before);
  },
);

test("the mark of one transaction is worth nothing in the next one of the session", async () => {
  const failure = await db.slots
    .tx(async (tx) => {
      await tx.q("select set_config('berth.gate', pg_current_xact_id()::text, false)");
    })
    .then(() => db.slots.run("update rollups set total = 0"))
    .catch((error: unknown) => error);
  expect(sqlState(failure)).toBe("BG001");
});

test("the gate leaves no mark behind in its own transaction", async () => {
  const store = createPoolStore(db);
  const failure = await db.slots
    .tx(async (tx) => {
      const [row] = await tx.q<{ outcome: { ok: boolean } }>(
        "select berth_apply_v1($1, $2::int8, $3::int8, $4::jsonb) as outcome",
        [poolOf(1).id, 2, await store.now(), { id: "by hand" }],
      );
      expect(row?.outcome.ok).toBe(true);
      await tx.q("update rollups set total = 0");
    })
    .catch((error: unknown) => error);
  expect(sqlState(failure)).toBe("BG001");
});
