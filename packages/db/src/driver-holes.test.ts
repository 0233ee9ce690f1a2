import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "./database.ts";
import { type TestDatabase, testDatabase } from "./testing/index.ts";

let test_: TestDatabase;
let db: Database;

beforeAll(async () => {
  test_ = await testDatabase();
  db = openDatabase(test_.url, { connections: 1, writers: 1 });
});
afterAll(async () => {
  await db.close();
  await test_.close();
});

/** Fails at its last row, when thousands have been sent already. */
const FAILS_LATE = `select 1 / (20000 - n) as x, repeat('a', 2000) from generate_series(1, 20000) n`;

test("the answer after a query that failed in the middle of its rows has no holes", async () => {
  await expect(db.slots.run(FAILS_LATE)).rejects.toThrow("division by zero");
  expect(await db.slots.run("select 7 as x")).toEqual([{ x: 7 }]);
  await expect(db.sql.unsafe(FAILS_LATE)).rejects.toThrow("division by zero");
  expect([...(await db.sql.unsafe("select 7 as x"))]).toEqual([{ x: 7 }]);
});
