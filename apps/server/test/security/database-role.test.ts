/** The role that serves can do no more than serve (`berth migrate --grant-to`); another one migrates. */
import { randomBytes } from "node:crypto";
import { grantServing, openDatabase } from "@berth/db";
import { type TestDatabase, testDatabase } from "@berth/db/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { examine } from "../../src/index.ts";
import { type TestServer, pool, startServer } from "../harness.ts";

const ROLE = `berth_serve_${randomBytes(4).toString("hex")}`;
let database: TestDatabase;
let url: string;

beforeAll(async () => {
  database = await testDatabase();
  await database.sql.unsafe(`create role ${ROLE} login password 'serving'`);
  await grantServing(database.url, ROLE);
  url = Object.assign(new URL(database.url), { username: ROLE, password: "serving" }).href;
});
afterAll(async () => {
  await database.sql.unsafe(`drop owned by ${ROLE}; drop role ${ROLE}`);
  await database.close();
});

/** What the database says to a statement of the serving role: an SQLSTATE, or `done`. */
async function asRole(statement: string): Promise<string> {
  const { sql, close } = openDatabase(url, { connections: 1, writers: 1 });
  try {
    return await sql.unsafe(statement).then(
      () => "done",
      (error: unknown) => (error as { code: string }).code,
    );
  } finally {
    await close();
  }
}

describe("the role that serves", () => {
  it("serves: starts on a migrated database, books, and is examined", async () => {
    const server: TestServer = await startServer({ database: { ...database, url } });
    try {
      const { poolId } = await server.fleet(pool(1, 8));
      const a = await server.as("t-a");
      const ask = { tenantId: "t-a", poolId, devices: [{ class: "gpu" as const, count: 1 }] };
      const { id } = await a.reservations.create({ ...ask, duration: "1h", leaseSeconds: 60 });
      await a.reservations.renew({ tenantId: "t-a", reservationId: id });
      await a.reservations.release({ tenantId: "t-a", reservationId: id });
      expect((await examine(url)).healthy).toBe(true);
    } finally {
      await server.stopServing();
    }
  });

  it.each([
    "create table mine (id int)",
    "create schema mine",
    "create table berth.mine (id int)",
    "create or replace function berth.now_ms() returns bigint language sql as 'select 0::bigint'",
    "create extension pgcrypto",
    "create role other",
    "drop table bookings",
    "drop function berth.guard()",
    "truncate bookings",
    "alter table bookings disable trigger all",
    "alter table bookings drop constraint bookings_pkey",
    "set session_replication_role = replica",
    "update berth_migrations set hash = 'x'",
    "delete from berth_migrations",
    "copy (select 1) to program 'true'",
    "copy bookings from '/etc/passwd'",
    "select pg_read_file('/etc/passwd')",
    "select rolpassword from pg_authid",
    "select passwd from pg_shadow",
    "alter system set fsync = off",
    `grant select on bookings to public; select 1 from pg_class where relacl::text like '%=r/${ROLE}%'; create schema x`,
  ])("may not: %s", async (statement) => {
    expect(await asRole(statement)).toBe("42501");
  });

  it("looks for names in one schema, whatever its role or database says", async () => {
    await database.sql.unsafe(`alter role ${ROLE} set search_path = pg_temp, public`);
    const { sql, close } = openDatabase(url, { connections: 1, writers: 1 });
    expect(await sql`show search_path`).toEqual([{ search_path: "public" }]);
    await close();
  });

  it("is not one that no grant could narrow", async () => {
    await expect(grantServing(database.url, "postgres")).rejects.toThrow(/is a superuser/);
    await expect(grantServing(database.url, "no; such")).rejects.toThrow('no role "no; such"');
    const { sql } = database;
    await sql.unsafe(`grant pg_execute_server_program to ${ROLE}`);
    await expect(grantServing(database.url, ROLE)).rejects.toThrow(
      /is a member of pg_execute_server_program/,
    );
    await sql.unsafe(`revoke pg_execute_server_program from ${ROLE}`);
    await grantServing(database.url, ROLE);
  });

  it("may use what a later migration makes, without another grant", async () => {
    await database.sql`create table later (id int)`;
    expect(await asRole("insert into later values (1)")).toBe("done");
    expect(await asRole("drop table later")).toBe("42501");
  });
});

it("a database that is not migrated is told of, not half-migrated by the role that serves", async () => {
  const empty = await testDatabase({ empty: true });
  const at = Object.assign(new URL(empty.url), { username: ROLE, password: "serving" }).href;
  await expect(startServer({ database: { ...empty, url: at } })).rejects.toThrow(
    /migration 0000_tables may not be applied by this role .*run `berth migrate` as the role that owns the tables/,
  );
  await empty.close();
});
