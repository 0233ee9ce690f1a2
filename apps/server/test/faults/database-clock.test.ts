/**
 * F10: clocks that jump. The product's own (`berth.now_ms()`) through the manual clock, and the database's
 * (`clock_timestamp()`), by which outages and leaps are told, through a schema that servers look into first.
 */
import { type TestDatabase, testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { expectHealthy, pool, spawnBerth, startServer } from "../harness.ts";
import { faultRun } from "./kit.ts";
import { METRICS_TOKEN, counter } from "./together.ts";

const JUMPS = 20;
const HOUR = 3_600_000;
const JITTER = 50;
const one = [{ class: "gpu" as const, count: 1 }];

test("20 jumps of up to an hour, both ways: no pool's time ever runs back, and what is due happens once", async () => {
  await faultRun("F10", JUMPS, async ({ count, random }) => {
    const server = await startServer({ clock: true });
    try {
      const { clock, database } = server;
      if (!clock) throw new Error("needs a clock by hand");
      const { poolId } = await server.fleet(pool(4, 8));
      const berth = await server.as("t-a");
      const book = (duration: string) =>
        berth.reservations.create({ tenantId: "t-a", poolId, devices: one, duration });
      let back = 0;
      let last = 0;
      for (let jump = 0; jump < count; jump += 1) {
        const by = Math.round((random() * 2 - 1) * HOUR);
        if (by < 0) back += 1;
        await clock.advance(by);
        for (let n = 0; n < 3; n += 1) {
          await clock.advance(Math.round((random() * 2 - 1) * JITTER));
          const { id, start } = await book(n === 0 ? "10m" : "300d");
          expect(start).toBeGreaterThanOrEqual(last);
          last = start;
          if (n > 0) await berth.reservations.release({ tenantId: "t-a", reservationId: id });
        }
      }
      expect(back).toBeGreaterThan(0);
      expect(await eventsOutOfTime(database)).toEqual([]);
      await server.expectHealthy();
      return `${count} jumps (${back} back), ${count * 3} bookings, no pool's time ran back, doctor clean`;
    } finally {
      await server.stop();
    }
  });
}, 300_000);

test("a jump backward over a lease neither ends nor prolongs it; it lapses once, when its time is there", async () => {
  const server = await startServer({ clock: true });
  try {
    const { clock, database } = server;
    if (!clock) throw new Error("needs a clock by hand");
    const { poolId } = await server.fleet(pool(1, 8));
    const berth = await server.as("t-a");
    const { id, leaseExpiresAt } = await berth.reservations.create({
      tenantId: "t-a",
      poolId,
      devices: one,
      duration: "8h",
      leaseSeconds: 60,
    });
    const look = () => berth.reservations.get({ tenantId: "t-a", reservationId: id });
    await clock.advance(30_000);
    const jumpedFrom = await clock.now();
    await clock.advance(-HOUR);
    expect(await clock.now()).toBeLessThan(jumpedFrom);
    expect(await look()).toMatchObject({ state: "active", leaseExpiresAt });
    await clock.set((leaseExpiresAt ?? 0) - 1);
    expect((await look()).state).toBe("active");
    await clock.set(leaseExpiresAt ?? 0);
    expect((await look()).state).toBe("expired");
    await clock.advance(-HOUR);
    expect((await look()).state).toBe("expired");
    const told = await database.sql<{ times: number }[]>`
      select count(*)::int as times from events
       where reservation_id = ${id} and type = 'reservation.expired' and tenant_id = 't-a'`;
    expect([...told]).toEqual([{ times: 1 }]);
    await server.expectHealthy();
  } finally {
    await server.stop();
  }
}, 300_000);

test("a leap of the database's own clock by two hours ends no lease until it is accepted, and setting it back breaks nothing", async () => {
  await faultRun("F10", 1, async () => {
    const database = await testDatabase();
    const { url, step } = await steppedClock(database);
    const server = await startServer({
      database: { ...database, url },
      config: { metricsToken: METRICS_TOKEN },
    });
    try {
      const { poolId } = await server.fleet(pool(1, 8));
      const berth = await server.as("t-a");
      const book = (duration: string, leaseSeconds?: number) =>
        berth.reservations.create({
          tenantId: "t-a",
          poolId,
          devices: one,
          duration,
          ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
        });
      const state = async (reservationId: string) =>
        (await berth.reservations.get({ tenantId: "t-a", reservationId })).state;
      const held = () => counter(server.url, "berth_leases_held");
      const leased = await book("8h", 30);
      const short = await book("1h");

      await step(2 * HOUR);
      await expect.poll(held, { timeout: 20_000 }).toBe(1);
      // A booking ends at its end: that is an instant. A lease is one of silence, and nobody was silent.
      expect(await state(short.id)).toBe("completed");
      expect(await state(leased.id)).toBe("active");

      await step(0);
      const later = await book("1h");
      expect(later.start).toBeGreaterThanOrEqual(short.start + 2 * HOUR);
      expect(await state(leased.id)).toBe("active");
      const accept = spawnBerth(["clock", "accept"], { DATABASE_URL: url });
      expect(await accept.ended).toMatchObject({ code: 0 });
      await expect.poll(held, { timeout: 20_000 }).toBe(0);
      expect(await state(leased.id)).toBe("active");
      expect(await eventsOutOfTime(database)).toEqual([]);
      await expectHealthy(database.url);
      return "a leap of 2 h and back, 1 lease held and kept, doctor clean";
    } finally {
      await server.stop();
      await database.close();
    }
  });
}, 300_000);

/**
 * `clock_timestamp()` as whoever connects by this URL sees it, ahead of the real one by a step. PostgreSQL
 * looks into the schemas of the search path in their order, and its own is one of them when it is named.
 */
async function steppedClock({ sql, url }: TestDatabase) {
  await sql.unsafe(`
    create schema stepped;
    create table stepped.step (ms int8 not null);
    insert into stepped.step values (0);
    create function stepped.clock_timestamp() returns timestamptz language sql volatile as
      'select pg_catalog.clock_timestamp() + (select ms from stepped.step) * interval ''1 ms'''`);
  const stepped = new URL(url);
  stepped.searchParams.set("search_path", "stepped,pg_catalog,public");
  return {
    url: stepped.href,
    async step(ms: number): Promise<void> {
      await sql`update stepped.step set ms = ${ms}`;
    },
  };
}

/** Events of a pool that say an earlier time than one before them. */
async function eventsOutOfTime({ sql }: TestDatabase): Promise<readonly unknown[]> {
  return [
    ...(await sql`
      select * from (
        select event_id, stream, at,
          lag(at) over (partition by tenant_id, stream order by seq, idx) as before
        from events where pool_id is not null) e
      where at < before`),
  ];
}
