/** Reads and the slots agree on numbers, bounds and errors. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "./database.ts";
import { emitEvents } from "./emit.ts";
import { UnknownOutcome, isTransient, sqlState } from "./errors.ts";
import { eventOf } from "./testing/fixtures.ts";
import { type TestDatabase, testDatabase } from "./testing/index.ts";

let test_: TestDatabase;
let db: Database;

beforeAll(async () => {
  test_ = await testDatabase();
  db = openDatabase(test_.url, { connections: 4, writers: 2 });
});
afterAll(async () => {
  await db.close();
  await test_.close();
});

test("int8 and sums are numbers up to 2^53 - 1 and an error beyond", async () => {
  const most = Number.MAX_SAFE_INTEGER;
  const exact = `select ${most}::int8 as a, sum(n) as b from (values (${most - 1}::int8), (1)) v (n)`;
  expect(await db.slots.run(exact)).toEqual([{ a: most, b: most }]);
  expect([...(await db.sql.unsafe(exact))]).toEqual([{ a: most, b: most }]);
  const beyond = "select 9007199254740993::int8 as a";
  await expect(db.sql.unsafe(beyond)).rejects.toThrow("does not fit");
  await expect(db.slots.run(beyond)).rejects.toThrow("does not fit");
  expect(await db.slots.run("select 1 as still")).toEqual([{ still: 1 }]);
});

test("every connection is bounded and READ COMMITTED", async () => {
  const text = `select name, setting from pg_settings where name in ('statement_timeout', 'lock_timeout',
    'idle_in_transaction_session_timeout', 'default_transaction_isolation') order by name`;
  const bounds = [
    { name: "default_transaction_isolation", setting: "read committed" },
    { name: "idle_in_transaction_session_timeout", setting: "5000" },
    { name: "lock_timeout", setting: "3000" },
    { name: "statement_timeout", setting: "7000" },
  ];
  expect(await db.slots.run(text)).toEqual(bounds);
  expect([...(await db.sql.unsafe(text))]).toEqual(bounds);
});

test("the SQLSTATE is found under whatever wraps it, and tells what is worth another try", async () => {
  const thrown = await db.sql`select 1 / 0`.catch((error: unknown) => error);
  const failure = new Error("wrapped", { cause: thrown });
  expect(sqlState(failure)).toBe("22012");
  expect(isTransient(failure)).toBe(false);
  const coded = (code: string): Error => Object.assign(new Error(code), { code });
  const transient = [
    "08006",
    "57P01",
    "57P05",
    "53300",
    "55P03",
    "25P03",
    "40001",
    "40P01",
    "ECONNREFUSED",
  ];
  expect(transient.filter((code) => !isTransient(coded(code)))).toEqual([]);
  const lasting = ["23P01", "23505", "22003", "42P01", "BG001"];
  expect(lasting.filter((code) => isTransient(coded(code)))).toEqual([]);
  expect(isTransient(new UnknownOutcome(coded("08006")))).toBe(false);
  expect(sqlState("a string")).toBeUndefined();
});

test("events of a stream are numbered in it, and go with their transaction", async () => {
  const emit = (n: number, fail = false): Promise<void> =>
    db.slots.tx(async (tx) => {
      await emitEvents(tx, "tenant:t-x", [eventOf(n, ["t-x", "t-y"])]);
      if (fail) throw new Error("no");
    });
  await emit(1);
  await expect(emit(2, true)).rejects.toThrow("no");
  await emit(3);
  const rows = await db.sql`
    select event_id, tenant_id, seq, pool_id from events where stream = 'tenant:t-x' order by id`;
  expect(
    rows.map((row) => [row["event_id"], row["tenant_id"], row["seq"], row["pool_id"]]),
  ).toEqual([
    [eventOf(1, []).id, "t-x", 1, null],
    [eventOf(1, []).id, "t-y", 1, null],
    [eventOf(3, []).id, "t-x", 2, null],
    [eventOf(3, []).id, "t-y", 2, null],
  ]);
});
