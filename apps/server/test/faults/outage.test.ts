/** What an outage, or a clock that leaps, does to leases: it ends none. On real time, as it is judged by it. */
import { setTimeout as delay } from "node:timers/promises";
import { createBerth } from "@berth/client";
import { faultProxy, testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { expectHealthy, pool, spawnBerth, startServer } from "../harness.ts";
import { shiftableClock } from "./clock.ts";
import { METRICS_TOKEN, counter } from "./together.ts";

const SECOND = 1_000;
const OUTAGE_MS = 5 * SECOND;
const LEASE_S = 30;

test("a database that is gone for 5 s ends no lease; one that had lapsed before is over", async () => {
  const database = await testDatabase();
  const clock = await shiftableClock(database);
  const proxy = await faultProxy(database.url);
  const server = await startServer({ database: { ...database, url: proxy.url } });
  try {
    const { poolId } = await server.fleet(pool(1, 8));
    const token = await server.token("t-a");
    const berth = createBerth({ url: server.url, token, maxRetries: 8, timeoutMs: 60_000 });
    const lease = (leaseSeconds: number) =>
      berth.reservations.create({
        tenantId: "t-a",
        poolId,
        devices: [{ class: "gpu", count: 1 }],
        duration: "1h",
        leaseSeconds,
      });
    const look = (reservationId: string) =>
      berth.reservations.get({ tenantId: "t-a", reservationId });
    const lapsed = await lease(LEASE_S);
    await clock.advance(4 * SECOND);
    const short = await lease(LEASE_S);
    const long = await lease(200);
    // The first has lapsed by now, the second has some 3 s left.
    await clock.advance(27 * SECOND);
    expect((await look(lapsed.id)).state).toBe("expired");
    const before = await look(short.id);
    expect(before.state).toBe("active");

    proxy.set({ kind: "refuse" });
    proxy.cutAll();
    await delay(OUTAGE_MS);
    const recovered = await clock.now();
    proxy.set();

    for (const [{ id }, least] of [
      [short, 30 * SECOND],
      [long, 100 * SECOND],
    ] as const) {
      const { state, leaseExpiresAt } = await look(id);
      expect(state).toBe("active");
      expect(leaseExpiresAt).toBeGreaterThanOrEqual(recovered + least);
    }
    expect(before.leaseExpiresAt).toBeLessThan(recovered);
    expect((await look(lapsed.id)).state).toBe("expired");
    await expectHealthy(database.url);
  } finally {
    await server.stop();
    await proxy.close();
    await database.close();
  }
}, 120_000);

test("while the clock is held no lease lapses; once it is accepted each has its grace, and lapses then", async () => {
  const server = await startServer({ clock: true, config: { metricsToken: METRICS_TOKEN } });
  try {
    const { clock, database } = server;
    if (!clock) throw new Error("needs a clock by hand");
    const { poolId } = await server.fleet(pool(1, 8));
    const berth = await server.as("t-a");
    const { id } = await berth.reservations.create({
      tenantId: "t-a",
      poolId,
      devices: [{ class: "gpu", count: 1 }],
      duration: "8h",
      leaseSeconds: LEASE_S,
    });
    const look = () => berth.reservations.get({ tenantId: "t-a", reservationId: id });
    const accept = async () => {
      const command = spawnBerth(["clock", "accept"], { DATABASE_URL: database.url });
      const { code } = await command.ended;
      return { code, out: command.stdout().trim(), err: command.stderr().trim() };
    };
    expect(await accept()).toEqual({
      code: 0,
      out: "",
      err: "leases lapse as usual: there is nothing to accept",
    });
    const since = await clock.now();
    await database.sql`select berth_hold_leases_v1(${Number.MAX_SAFE_INTEGER}::int8)`;
    await expect.poll(() => counter(server.url, "berth_leases_held"), { timeout: 20_000 }).toBe(1);
    await clock.advance(2 * 3_600 * SECOND);
    expect((await look()).state).toBe("active");

    const accepted = await accept();
    const now = await clock.now();
    expect(accepted).toMatchObject({ code: 0, err: expect.stringContaining("lapse again") });
    expect(JSON.parse(accepted.out)).toEqual({
      from: new Date(since).toISOString(),
      to: new Date(now).toISOString(),
    });
    expect(await look()).toMatchObject({
      state: "active",
      leaseExpiresAt: now + 30 * SECOND,
    });
    await expect.poll(() => counter(server.url, "berth_leases_held"), { timeout: 20_000 }).toBe(0);
    await clock.advance(30 * SECOND);
    expect((await look()).state).toBe("expired");
    await server.expectHealthy();
  } finally {
    await server.stop();
  }
}, 120_000);
