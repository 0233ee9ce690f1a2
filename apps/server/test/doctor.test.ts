/**
 * The doctor finds every kind of broken promise by itself: each test breaks a copy of a healthy database
 * behind the gate's back and asks for the invariant and the ids by name.
 */
import { randomBytes } from "node:crypto";
import { openDatabase } from "@berth/db";
import { examine } from "../src/index.ts";
import { DAMAGED_BOOKINGS } from "./doctor-damaged-bookings.ts";
import { DAMAGED_RECORDS } from "./doctor-damaged-records.ts";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import {
  ADMIN_KEY,
  type Fleet,
  type TestServer,
  node,
  pool,
  spawnBerth,
  startServer,
} from "./harness.ts";

const HOUR_MS = 3_600_000;

/** Ids of the healthy database; the SQL below names them as $name. */
interface Seeds {
  [name: string]: string;
}

let server: TestServer;
let fleet: Fleet;
let seeds: Seeds;
let healthyName: string;

async function seed(): Promise<Seeds> {
  const [a, b, c] = [await server.as("t-a"), await server.as("t-b"), await server.as("t-c")];
  const { poolId } = fleet;
  const gpus = (count: number) => [{ class: "gpu" as const, count }];
  const over = await c.reservations.create({
    tenantId: "t-c",
    poolId,
    devices: gpus(1),
    duration: "1h",
  });
  const clock = server.clock;
  if (!clock) throw new Error("needs a clock by hand");
  await clock.advance(2 * HOUR_MS);
  const start = (await clock.now()) + HOUR_MS;
  const resources = { vcpu: 16, memoryGiB: 64 };
  const now = { tenantId: "t-a", poolId, devices: gpus(2), duration: "4h", resources };
  const running = await a.reservations.create(now);
  const later = await b.reservations.create({
    tenantId: "t-b",
    poolId,
    devices: gpus(3),
    duration: "2h",
    start,
    resources,
  });
  const left = await b.reservations.create({
    tenantId: "t-b",
    poolId,
    devices: gpus(1),
    duration: "1h",
  });
  await b.reservations.release({ tenantId: "t-b", reservationId: left.id });
  const spare = await server.fleet(pool(1, 2));
  const unit = (r: typeof running) => r.members?.[0]?.atoms[0]?.unitId ?? "";
  return {
    pool: poolId,
    spare: spare.poolId,
    over: over.id,
    running: running.id,
    later: later.id,
    left: left.id,
    runningUnit: unit(running),
    laterUnit: unit(later),
    laterNode: later.members?.[0]?.nodeId ?? "",
    spareUnit: await anyUnitOf(spare.poolId),
    node: running.members?.[0]?.nodeId ?? "",
  };
}

async function anyUnitOf(poolId: string): Promise<string> {
  const [row] = await server.database.sql<{ id: string }[]>`
    select id from units where gate_id = ${poolId} order by id limit 1`;
  return row?.id ?? "";
}

beforeAll(async () => {
  server = await startServer({ clock: true });
  const shape = pool(2, 8);
  fleet = await server.fleet({ ...shape, nodes: [...shape.nodes, node("extra", 4, { vcpu: 8 })] });
  seeds = await seed();
  await server.expectHealthy();
  healthyName = new URL(server.database.url).pathname.slice(1);
  await server.stopServing();
});
afterAll(() => server.stop());

/** A copy of the healthy database with the damage done, triggers asleep. */
async function damaged<T>(damage: string, use: (url: string) => Promise<T>): Promise<T> {
  const maintenance = inject("berthPostgres");
  const name = `d_${randomBytes(6).toString("hex")}`;
  const url = Object.assign(new URL(maintenance), { pathname: `/${name}` }).href;
  const admin = openDatabase(maintenance, { connections: 1, writers: 1 });
  const copy = openDatabase(url, { connections: 1, writers: 1 });
  try {
    // A template must have nobody connected to it; idle clients of the test come back by themselves.
    await admin.sql`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = ${healthyName}`;
    await admin.sql.unsafe(`create database ${name} template ${healthyName}`);
    const text = damage.replaceAll(/\$(\w+)/g, (_, id: string) => `'${seeds[id] ?? "?"}'`);
    await copy.sql.unsafe(`begin; set local session_replication_role = replica; ${text}; commit`);
    await copy.close();
    return await use(url);
  } finally {
    await admin.sql.unsafe(`drop database if exists ${name} with (force)`);
    await admin.close();
  }
}

describe("the doctor finds and names", () => {
  it.each([...DAMAGED_BOOKINGS, ...DAMAGED_RECORDS])(
    "$invariant: $what",
    async ({ sql, invariant, names }) => {
      const report = await damaged(sql, examine);
      expect(report.healthy).toBe(false);
      const found = report.findings.find((finding) => finding.invariant === invariant);
      const wanted = names.map((name) => seeds[name] ?? name);
      expect(found?.violations).toContainEqual(
        expect.objectContaining({
          ids: expect.arrayContaining(wanted) as unknown,
          message: expect.stringMatching(/\S/) as unknown,
        }),
      );
    },
  );
});

it("the doctor finds and names sessions that decide on old rows", async () => {
  const url = new URL(server.database.url);
  url.searchParams.set("default_transaction_isolation", "repeatable read");
  const { findings } = await examine(url.href);
  expect(findings.flatMap(({ violations }) => violations)).toEqual([
    {
      invariant: "GUARD",
      ids: ["default_transaction_isolation"],
      message: "default_transaction_isolation is repeatable read; it must be read committed",
    },
  ]);
});

describe("berth doctor", () => {
  it("ends with status 0 on a healthy database and prints a line an invariant", async () => {
    const command = spawnBerth(["doctor"], { DATABASE_URL: server.database.url });
    expect((await command.ended).code).toBe(0);
    const lines = command.stdout().trim().split("\n");
    expect(lines.map((line) => line.split(/\s+/)[0])).toEqual([
      ...["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8"],
      "GUARD",
    ]);
    for (const line of lines) expect(line).toMatch(/ ok$/);
  });

  it("ends with status 1 on a damaged one and spells the violation out", async () => {
    const sql = `update nodes set vcpu = 15 where id = $node`;
    await damaged(sql, async (url) => {
      const command = spawnBerth(["doctor", "--json"], { DATABASE_URL: url });
      expect((await command.ended).code).toBe(1);
      const report = JSON.parse(command.stdout()) as { healthy: boolean; findings: unknown };
      expect(report.healthy).toBe(false);
      expect(JSON.stringify(report.findings)).toContain(seeds["node"]);
      expect(command.stdout() + command.stderr()).not.toContain(ADMIN_KEY);
    });
  });
});

describe("berth rebuild", () => {
  it("corrects nothing in a healthy database", async () => {
    const command = spawnBerth(["rebuild"], { DATABASE_URL: server.database.url });
    expect((await command.ended).code).toBe(0);
    expect(command.stdout()).toBe("");
    expect(command.stderr()).toContain("2 pools recounted, 0 rows corrected");
  });

  it("puts a drifted row right and says what it was", async () => {
    const sql = `update rollups set allocated = 7 where pool_id = $pool and resource = 'gpu'`;
    await damaged(sql, async (url) => {
      const command = spawnBerth(["rebuild"], { DATABASE_URL: url });
      expect((await command.ended).code).toBe(0);
      expect(command.stdout()).toContain(seeds["pool"] ?? "?");
      expect((await examine(url)).healthy).toBe(true);
    });
  });
});
