/** Backup and restore as operations.md has them, on the PostgreSQL that Debian packages. */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isBerthError } from "@berth/client";
import { openDatabase } from "@berth/db";
import type { TestDatabase } from "@berth/db/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServer, expectHealthy, pool, startServer } from "../harness.ts";
import { type Cluster, debianPostgres, startCluster } from "./debian-postgres.ts";

const programs = debianPostgres();

interface Place {
  readonly cluster: Cluster;
  readonly database: TestDatabase;
}

async function place(): Promise<Place> {
  if (!programs) throw new Error("skipped");
  const cluster = await startCluster(programs);
  const admin = openDatabase(cluster.url("postgres"), { connections: 1, writers: 1 });
  await admin.sql`create database berth`;
  await admin.close();
  const { sql } = openDatabase(cluster.url("berth"), { connections: 2, writers: 1 });
  const database = {
    url: cluster.url("berth"),
    sql,
    feedCaughtUp: () => Promise.resolve(),
    close: () => sql.end({ timeout: 5 }),
  };
  return { cluster, database };
}

describe.skipIf(programs === null)(`PostgreSQL ${programs?.version ?? 15} of Debian`, () => {
  let here: Place;
  let elsewhere: Place;
  let server: TestServer;

  beforeAll(async () => {
    [here, elsewhere] = await Promise.all([place(), place()]);
    server = await startServer({ database: here.database });
  });
  afterAll(async () => {
    await server.stop();
    for (const { cluster, database } of [here, elsewhere]) {
      await database.close();
      await cluster.stop();
    }
  });

  it("serves every kind of call, and the books add up", async () => {
    const { poolId } = await server.fleet(pool(2, 8));
    const a = await server.as("t-a");
    const ask = {
      tenantId: "t-a",
      poolId,
      devices: [{ class: "gpu" as const, count: 4 }],
      duration: "1h",
    };
    expect(await a.capacity.preview(ask)).toMatchObject({ fits: true });
    const { id } = await a.reservations.create({ ...ask, leaseSeconds: 60 });
    await a.reservations.renew({ tenantId: "t-a", reservationId: id });
    await a.reservations.extend({
      tenantId: "t-a",
      reservationId: id,
      end: Date.now() + 7_200_000,
    });
    const gang = { ...ask, devices: [{ class: "gpu" as const, count: 8 }], gang: { size: 2 } };
    await expect(a.reservations.create(gang)).rejects.toMatchObject({ code: "NO_CAPACITY" });
    await a.reservations.release({ tenantId: "t-a", reservationId: id });
    const both = await a.reservations.create(gang);
    await here.database.feedCaughtUp();
    const { events } = await a.events.list({ tenantId: "t-a", poolId });
    expect(events.map(({ type }) => type)).toContain("reservation.created");
    await a.reservations.release({ tenantId: "t-a", reservationId: both.id });
    await expectHealthy(here.database.url);
  });

  it("is dumped while it books and restored elsewhere: bookings and keys are there, old cursors say that they are", async () => {
    const { poolId } = await server.fleet(pool(2, 8));
    const a = await server.as("t-a");
    const token = await server.token("t-a");
    const ask = {
      tenantId: "t-a",
      poolId,
      devices: [{ class: "gpu" as const, count: 1 }],
      duration: "4h",
    };
    const kept = await a.reservations.create({ ...ask, idempotencyKey: "kept" });
    await server.database.feedCaughtUp();
    const before = await a.events.list({ tenantId: "t-a", poolId });
    const cursor = before.events.at(-1)?.cursor ?? "";
    expect((await a.events.list({ tenantId: "t-a", poolId, after: cursor })).events).toEqual([]);

    // 1. The dump is of one moment, whatever is booked while it runs.
    let dumped = false;
    const booking = (async () => {
      for (let booked = 0; !dumped && booked < 10; booked += 1) await a.reservations.create(ask);
    })();
    const file = join(tmpdir(), `berth-restore-${randomUUID()}.dump`);
    here.cluster.run("pg_dump", ["--format=custom", `--file=${file}`, here.database.url]);
    dumped = true;
    await booking;

    // 2. Restored into an empty database of another cluster, which nobody has used yet.
    const flags = ["--exit-on-error", "--single-transaction", "--no-owner"];
    elsewhere.cluster.run("pg_restore", [...flags, `--dbname=${elsewhere.database.url}`, file]);
    rmSync(file);
    await expectHealthy(elsewhere.database.url);

    // 3. A server works on it, with the keys, bookings and idempotency keys of before.
    const restored = await startServer({ database: elsewhere.database });
    try {
      const http = (method: string, input: object) => restored.http(method, input, { token });
      const again = await http("reservations.create", { ...ask, idempotencyKey: "kept" });
      expect(again).toMatchObject({ status: 200, body: { id: kept.id, members: kept.members } });
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect((await http("reservations.create", { ...ask, idempotencyKey: "new" })).status).toBe(
        200,
      );

      // 4. What was seen of the old database is no place in this one.
      const old = await http("events.list", { tenantId: "t-a", poolId, after: cursor });
      expect(old).toMatchObject({ status: 410, body: { code: "CURSOR_EXPIRED" } });
      const stream = restored
        .as("t-a")
        .then((own) =>
          own.reservations
            .watch({ tenantId: "t-a", poolId, lastEventId: cursor })
            [Symbol.asyncIterator]()
            .next(),
        );
      const refused: unknown = await stream.catch((error: unknown) => error);
      expect(isBerthError(refused, "CURSOR_EXPIRED"), String(refused)).toBe(true);
      const anew = await http("events.list", { tenantId: "t-a", poolId });
      expect(anew.status).toBe(200);
      await expectHealthy(elsewhere.database.url);
    } finally {
      await restored.stop();
    }
  });
});
