/** What the client keeps going over a restart of its server: a hold, and a stream whose token is rotated meanwhile. */
import { createBerth, isBerthError } from "@berth/client";
import { testDatabase } from "@berth/db/testing";
import { expect, test, vi } from "vitest";
import { cuttingProxy } from "../faults/cutting-proxy.ts";
import { STOPPED, everyEvent, follow } from "../faults/watching.ts";
import { expectHealthy, pool, spawnServer } from "../harness.ts";

const WAIT = { timeout: 60_000, interval: 20 };

test("a hold outlives a server that was killed, and one that drained", async () => {
  const database = await testDatabase();
  let server = await spawnServer(database.url);
  const proxy = await cuttingProxy(server.url);
  try {
    const { poolId } = await server.actors.fleet(pool(1, 8));
    const berth = createBerth({ url: proxy.url, token: await server.actors.token("t-a") });
    const ask = {
      tenantId: "t-a",
      poolId,
      devices: [{ class: "gpu" as const, count: 8 }],
      duration: "1h",
      leaseSeconds: 30,
    };
    const versions: number[] = [];
    await berth.withHold(ask, async (hold) => {
      for (const signal of ["SIGKILL", "SIGTERM"] as const) {
        const before = hold.reservation.version;
        await server.kill(signal);
        server = await spawnServer(database.url);
        proxy.to(server.url);
        // The next renewal goes through the new one.
        await vi.waitFor(() => expect(hold.reservation.version).toBeGreaterThan(before), WAIT);
        versions.push(hold.reservation.version);
        expect(hold.signal.aborted).toBe(false);
      }
      const seen = await berth.reservations.get({
        tenantId: "t-a",
        reservationId: hold.reservation.id,
      });
      expect(seen.state).toBe("active");
    });
    expect(versions).toHaveLength(2);
    const { reservations } = await berth.reservations.list({ tenantId: "t-a", poolId });
    expect(reservations.map(({ state }) => state)).toEqual(["released"]);
    await expectHealthy(database.url);
  } finally {
    await proxy.close();
    await server.kill("SIGKILL");
    await database.close();
  }
}, 180_000);

test("a stream goes on over a restart with a token that was rotated meanwhile, and misses nothing", async () => {
  const database = await testDatabase();
  let server = await spawnServer(database.url);
  const proxy = await cuttingProxy(server.url);
  const stop = new AbortController();
  try {
    const { poolId } = await server.actors.fleet(pool(1, 8));
    const { admin } = server.actors;
    const keyOf = (name: string) =>
      admin.access.createKey({ tenantId: "t-a", role: "tenant-operator", name });
    const [first, second, third] = [await keyOf("one"), await keyOf("two"), await keyOf("three")];
    await database.feedCaughtUp();
    const start = (await everyEvent(admin, undefined)).at(-1)?.cursor;
    let current = first;
    const asked: string[] = [];
    const token = (): string => {
      asked.push(current.key.name);
      return current.secret;
    };
    const watcher = createBerth({ url: proxy.url, token });
    const seen = follow(watcher, { lastEventId: start }, stop.signal);
    const book = async (): Promise<string> => {
      const { id } = await server.actors.admin.reservations.create({
        tenantId: "t-a",
        poolId,
        devices: [{ class: "gpu", count: 1 }],
        duration: "1h",
      });
      await vi.waitFor(() => {
        const ids = seen.events.map(({ data }) =>
          "reservationId" in data ? data.reservationId : "",
        );
        expect(ids).toContain(id);
      }, WAIT);
      return id;
    };
    await book();
    // Rotated under an open stream: it ends with the old key, and is opened again with the new one.
    current = second;
    await admin.access.revokeKey({ keyId: first.key.id });
    await vi.waitFor(() => expect(asked).toContain("two"), WAIT);
    await book();
    // Rotated while the server is away.
    current = third;
    await server.kill("SIGKILL");
    server = await spawnServer(database.url);
    proxy.to(server.url);
    await book();
    expect(asked).toContain("three");
    // And with no key that is good the stream says so.
    await server.actors.admin.access.revokeKey({ keyId: third.key.id });
    const ended = await seen.ended;
    expect(isBerthError(ended, "UNAUTHENTICATED")).toBe(true);
    await database.feedCaughtUp();
    const all = await everyEvent(server.actors.admin, start);
    const told = seen.events.map(({ id }) => id);
    expect(told).toEqual(all.slice(0, told.length).map(({ id }) => id));
    expect(all.length - told.length).toBeLessThanOrEqual(1);
  } finally {
    stop.abort(STOPPED);
    await proxy.close();
    await server.kill("SIGKILL");
    await database.close();
  }
}, 180_000);
