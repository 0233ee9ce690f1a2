/** Migrations bring any older database here, once, whoever else is at it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { isMigrated, migrate } from "./migrate.ts";
import { printSchema } from "./print-schema.ts";
import { type TestDatabase, testDatabase } from "./testing/index.ts";

let test_: TestDatabase;

beforeAll(async () => {
  test_ = await testDatabase({ empty: true });
});
afterAll(() => test_.close());

test("three servers that start at once migrate an empty database once, and a fourth changes nothing", async () => {
  expect(await isMigrated(test_.url)).toBe(false);
  await Promise.all([migrate(test_.url), migrate(test_.url), migrate(test_.url)]);
  expect(await isMigrated(test_.url)).toBe(true);
  const before = await printSchema(test_.url);
  const applied = await test_.sql`select tag, at from berth_migrations order by tag`;
  await migrate(test_.url);
  expect(await printSchema(test_.url)).toBe(before);
  expect(await test_.sql`select tag, at from berth_migrations order by tag`).toEqual(applied);
});

test("a migrated database is what schema.sql says", async () => {
  const committed = readFileSync(new URL("../schema.sql", import.meta.url), "utf8");
  expect(await printSchema(test_.url)).toBe(committed);
});

test("a database that another version's migrations made is refused", async () => {
  await test_.sql`update berth_migrations set hash = 'other' where tag = '0001_gate'`;
  await expect(migrate(test_.url)).rejects.toThrow("0001_gate");
  await test_.sql`delete from berth_migrations where tag = '0001_gate'`;
  await expect(migrate(test_.url)).rejects.toThrow("already exists");
  const left = await test_.sql`select tag from berth_migrations order by tag`;
  expect(left.map(({ tag }) => tag)).toEqual(["0000_tables", "0002_gates_together"]);
});

test("a role named like a schema of ours changes nothing", async () => {
  const other = await testDatabase({ empty: true });
  await other.sql.unsafe(
    "drop role if exists berth; create role berth superuser login password 'x'",
  );
  const url = Object.assign(new URL(other.url), { username: "berth", password: "x" }).href;
  await migrate(url);
  await migrate(url);
  const committed = readFileSync(new URL("../schema.sql", import.meta.url), "utf8");
  expect(await printSchema(other.url)).toBe(committed);
  await other.close();
});
