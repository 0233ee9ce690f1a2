/** F17: what is due is applied by several servers at once. */
import { randomBytes } from "node:crypto";
import { createPoolStore, openDatabase } from "@berth/db";
import { type Engine, createEngine } from "@berth/engine";
import { expect, test } from "vitest";
import { type TestServer, pool, startServer } from "../harness.ts";
import { faultRun } from "./kit.ts";

const ROUNDS = 50;
const ENGINES = 8;
const BOOKINGS = 4;
const MINUTE = 60_000;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

test("what is due at once on eight servers is done once, and told once", async () => {
  await faultRun("F17", ROUNDS, async ({ count }) => {
    const server = await startServer({ clock: true });
    const engines = Array.from({ length: ENGINES }, () => engineOn(server));
    try {
      const { clock } = server;
      if (!clock) throw new Error("needs a clock by hand");
      const { poolId } = await server.fleet(pool(1, 8));
      const gateId = poolId as Parameters<Engine["settle"]>[0][number];
      const berth = await server.as("t-a");
      let settled = 0;
      for (let round = 0; round < count; round += 1) {
        const now = await clock.now();
        // Half of them begin at the very instant at which the others end, on the same GPUs.
        const windows = [now, now + MINUTE].flatMap((start) => Array<number>(BOOKINGS).fill(start));
        await Promise.all(
          windows.map((start) =>
            berth.reservations.create({
              tenantId: "t-a",
              poolId,
              devices: [{ class: "gpu", count: 2 }],
              ...(start === now ? {} : { start }),
              duration: "1m",
            }),
          ),
        );
        for (let step = 0; step < 2; step += 1) {
          await clock.advance(MINUTE);
          await Promise.all(engines.map(({ engine }) => engine.settle([gateId])));
          settled += ENGINES;
        }
      }
      const told = await server.database.sql<{ type: string; times: number; of: number }[]>`
        select type, count(*)::int as times, count(distinct reservation_id)::int as of from events
         where type in ('reservation.created', 'reservation.activated', 'reservation.completed')
           and tenant_id = 't-a' group by type order by type`;
      const all = count * 2 * BOOKINGS;
      expect(told).toEqual([
        // Those that began at once were made active.
        { type: "reservation.activated", times: all / 2, of: all / 2 },
        { type: "reservation.completed", times: all, of: all },
        { type: "reservation.created", times: all, of: all },
      ]);
      const lost = engines.reduce((sum, { counts }) => sum + counts.lost, 0);
      expect(lost).toBeGreaterThan(0);
      await server.expectHealthy();
      return `${2 * count} times ${ENGINES} servers at once on what was due (${settled} tries, ${lost} lost the race), ${2.5 * all} events each once, doctor clean`;
    } finally {
      for (const { close } of engines) await close();
      await server.stop();
    }
  });
}, 600_000);

/** A server's engine without its HTTP and without a worker of its own. */
function engineOn({ database }: TestServer) {
  const db = openDatabase(database.url, { connections: 2, writers: 2 });
  const counts = { lost: 0 };
  const engine = createEngine({
    store: createPoolStore(db),
    random: randomBytes,
    log: quiet,
    elapsed: () => performance.now(),
    observer: { gateLost: () => void (counts.lost += 1) },
  });
  return {
    engine,
    counts,
    async close() {
      await engine.stop();
      await db.close();
    },
  };
}
