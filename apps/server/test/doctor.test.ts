/**
 * The doctor finds every kind of broken promise by itself: each test breaks a copy of a healthy database
 * behind the gate's back and asks for the invariant and the ids by name.
 */
import { randomBytes } from "node:crypto";
import { openDatabase } from "@berth/db";
import { examine } from "../src/index.ts";
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
    node: running.members?.[0]?.nodeId ?? "",
  };
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

interface Damage {
  readonly what: string;
  readonly sql: string;
  readonly invariant: string;
  /** Names of seeds that the violation must list. */
  readonly names: readonly string[];
}

const DAMAGES: readonly Damage[] = [
  {
    what: "a second booking row on a booked unit",
    sql: `alter table bookings drop constraint bookings_no_overlap;
      insert into bookings select pool_id, $running, unit_key, during from bookings
       where reservation_id = $later limit 1`,
    invariant: "I1",
    names: ["running", "later"],
  },
  {
    what: "two live reservations with the same members at one time",
    sql: `update reservations set members = (select members from reservations where id = $running)
       where id = $later`,
    invariant: "I1",
    names: ["running", "later", "runningUnit"],
  },
  {
    what: "a quota below what is in use",
    sql: `update quotas set max = 1 where pool_id = $pool and tenant_id = 't-a'`,
    invariant: "I2",
    names: ["pool"],
  },
  {
    what: "a quota row that is gone",
    sql: `delete from quotas where pool_id = $pool and tenant_id = 't-b'`,
    invariant: "I2",
    names: ["pool"],
  },
  {
    what: "a counter of quota use that drifted",
    sql: `update quotas set used = used + 1 where pool_id = $pool and tenant_id = 't-a'`,
    invariant: "I2",
    names: ["pool"],
  },
  {
    what: "a capacity counter that drifted",
    sql: `update rollups set allocated = allocated + 1 where pool_id = $pool and resource = 'gpu'`,
    invariant: "I3",
    names: ["pool"],
  },
  {
    what: "a capacity row that is gone",
    sql: `delete from rollups where pool_id = $pool and resource = 'vcpu'`,
    invariant: "I3",
    names: ["pool"],
  },
  {
    what: "a unit's health changed without its row",
    sql: `update units set healthy = false where id = $runningUnit`,
    invariant: "I3",
    names: ["pool"],
  },
  {
    what: "reserved scalars that drifted",
    sql: `update rollups set reserved = 0 where pool_id = $pool and resource = 'memoryGiB'`,
    invariant: "I3",
    names: ["pool"],
  },
  {
    what: "a booking row that is gone",
    sql: `delete from bookings b using units u
       where u.key = b.unit_key and b.reservation_id = $running and u.id = $runningUnit`,
    invariant: "I4",
    names: ["running", "runningUnit"],
  },
  {
    what: "a member with a unit less than was asked for",
    sql: `update reservations set members = members #- '{0,unitIds,0}' where id = $running`,
    invariant: "I4",
    names: ["running"],
  },
  {
    what: "a booking row that covers less than its window",
    sql: `update bookings set during = int8range(lower(during), upper(during) - 1000)
       where reservation_id = $later`,
    invariant: "I4",
    names: ["later", "laterUnit"],
  },
  {
    what: "booking rows without their reservation",
    sql: `delete from reservations where id = $later`,
    invariant: "I4",
    names: ["later", "laterUnit"],
  },
  {
    what: "an ended reservation that still holds its units",
    sql: `update bookings set during = int8range(lower(during), upper(during) + 1)
       where reservation_id = $over`,
    invariant: "I4",
    names: ["over"],
  },
  {
    what: "a live reservation that no key names",
    sql: `delete from reservation_keys where reservation_id = $running`,
    invariant: "I5",
    names: ["running"],
  },
  {
    what: "two keys for one reservation",
    sql: `insert into reservation_keys
       select tenant_id, principal, key || '-again', request_hash, reservation_id, pool_id, created_at
         from reservation_keys where reservation_id = $running`,
    invariant: "I5",
    names: ["running"],
  },
  {
    what: "one key for two reservations",
    sql: `alter table reservation_keys drop constraint reservation_keys_pk;
      insert into reservation_keys
       select tenant_id, principal, key, request_hash, $left, pool_id, created_at
         from reservation_keys where reservation_id = $later`,
    invariant: "I5",
    names: ["later", "left"],
  },
  {
    what: "a key of a reservation that does not exist",
    sql: `update reservation_keys set reservation_id = 'rsv_gone' where reservation_id = $left`,
    invariant: "I5",
    names: [],
  },
  {
    what: "a beginning that was never told",
    sql: `delete from events where reservation_id = $running and type = 'reservation.created'`,
    invariant: "I6",
    names: ["running"],
  },
  {
    what: "an end that was never told",
    sql: `delete from events where reservation_id = $over and type = 'reservation.completed'`,
    invariant: "I6",
    names: ["over"],
  },
  {
    what: "an end that was told twice",
    sql: `insert into events (tenant_id, event_id, stream, pool_id, reservation_id, seq, idx, type, at, data)
       select tenant_id, event_id || 'x', stream, pool_id, reservation_id, seq, idx + 100, type, at, data
         from events where reservation_id = $left and type = 'reservation.released'`,
    invariant: "I6",
    names: ["left"],
  },
  {
    what: "an end that was told of a live reservation",
    sql: `update events set type = 'reservation.released'
       where reservation_id = $running and type = 'reservation.created'`,
    invariant: "I6",
    names: ["running"],
  },
  {
    what: "a history ahead of its pool",
    sql: `update gates set seq = 1 where id = $pool`,
    invariant: "I6",
    names: ["pool"],
  },
  {
    what: "a booking on a unit of another pool",
    sql: `update units set gate_id = $spare where id = $runningUnit`,
    invariant: "I7",
    names: ["running", "runningUnit"],
  },
  {
    what: "a booking made into maintenance that was announced before",
    sql: `insert into maintenance (id, node_id, gate_id, start, "end", state, created_at)
       select 'mnt_seeded', $node, $pool, "end" - 1000, "end" + 1000, 'scheduled', created_at - 1
         from reservations where id = $running`,
    invariant: "I7",
    names: ["running", "node"],
  },
  {
    what: "a booking charged to a tenant that was never given the pool",
    sql: `update reservations set charged_tenant_id = 'platform' where id = $later`,
    invariant: "I7",
    names: ["later", "pool"],
  },
  {
    what: "a node with fewer CPUs than are booked on it",
    sql: `update nodes set vcpu = 15 where id = $node`,
    invariant: "I8",
    names: ["node"],
  },
  {
    what: "members that hold more memory than their node has",
    sql: `update reservations set members = jsonb_set(members, '{0,resources,memoryGiB}', '600')
       where id = $running`,
    invariant: "I8",
    names: ["node"],
  },
  {
    what: "the exclusion constraint gone",
    sql: `alter table bookings drop constraint bookings_no_overlap`,
    invariant: "GUARD",
    names: [],
  },
  {
    what: "a guard trigger switched off",
    sql: `alter table reservations disable trigger guard`,
    invariant: "GUARD",
    names: [],
  },
  {
    what: "a primary key gone",
    sql: `alter table quotas drop constraint quotas_pk`,
    invariant: "GUARD",
    names: [],
  },
];

describe("the doctor finds and names", () => {
  it.each(DAMAGES)("$invariant: $what", async ({ sql, invariant, names }) => {
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
  });
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
