/** F13: a database that is slow. */
import { setTimeout as delay } from "node:timers/promises";
import { type Berth, createBerth, isBerthError } from "@berth/client";
import { testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { pool } from "../harness.ts";
import { type Work, acked, underWork, untilAck } from "./database-kit.ts";
import { faultRun } from "./kit.ts";

const LOCKED_MS = 8_000;
const RECOVERY_MS = 2_000;

test("a table locked for 8 s keeps nobody beyond a call's limit, and is used again at once", async () => {
  await faultRun("F13", 1, async (run) => {
    const database = await testDatabase();
    try {
      return await underWork({ run, database }, async ({ load, database: { sql } }) => {
        let slowest = 0;
        for (let n = 0; n < run.count; n += 1) {
          await acked(load, 20);
          const before = load.count("unavailable");
          await sql.unsafe(
            `do 'begin lock table bookings in access exclusive mode;
              perform pg_sleep(${LOCKED_MS / 1_000}); end'`,
          );
          expect(load.count("unavailable")).toBeGreaterThan(before);
          slowest = Math.max(slowest, await untilAck(load));
        }
        expect(slowest).toBeLessThan(RECOVERY_MS);
        return `bookings locked ${run.count} times for 8 s, answers ${Math.round(slowest)} ms later`;
      });
    } finally {
      await database.close();
    }
  });
}, 600_000);

const CROWD = 150;
const WRITE_S = 0.1;
const TURNS = 10;

test("where every write is slow, one tenant's crowd does not keep another waiting for it", async () => {
  await faultRun("F13", 1, async (run) => {
    const database = await testDatabase();
    try {
      return await underWork({ run, database, servers: 1, callers: 1 }, async (work) => {
        await database.sql.unsafe(`
          create function slow() returns trigger language plpgsql as
            'begin perform pg_sleep(${WRITE_S}); return null; end';
          create trigger slow before insert on bookings for each statement execute function slow()`);
        const { crowd, single } = await crowdAndOne(work);
        await database.sql.unsafe("drop trigger slow on bookings; drop function slow");
        expect(single.length).toBe(TURNS);
        expect(median(single)).toBeLessThan(median(crowd));
        return `${crowd.length} calls of one tenant at a time over writes of 100 ms: median ${median(crowd)} ms, another tenant's ${median(single)} ms`;
      });
    } finally {
      await database.close();
    }
  });
}, 600_000);

/** How long each call took: of many at once, and one after the other of somebody else, milliseconds. */
async function crowdAndOne({ servers, token }: Work) {
  const [server] = servers;
  if (!server) throw new Error("needs a server");
  const berthOf = (of: string, maxRetries: number) =>
    createBerth({ url: server.url, token: of, maxRetries });
  // Who of the crowd is turned away comes again when it was told to; the other tenant's never is.
  const [many, other] = [berthOf(token, 10), berthOf(await server.actors.token("t-b"), 0)];
  // Room for all of them: what is measured is waiting for a turn.
  const { poolId } = await server.actors.fleet(pool(32, 8));
  const crowd: number[] = [];
  const single: number[] = [];
  let going = true;
  const member = async () => {
    while (going) crowd.push(await bookAndRelease(many, "t-a", poolId));
  };
  const crowded = Array.from({ length: CROWD }, member);
  await delay(500);
  for (let n = 0; n < TURNS; n += 1) single.push(await bookAndRelease(other, "t-b", poolId));
  going = false;
  await Promise.all(crowded);
  return { crowd, single };
}

/** How long the booking took; a refusal for want of room is an answer, too. */
async function bookAndRelease(berth: Berth, tenantId: string, poolId: string): Promise<number> {
  const since = performance.now();
  const devices = [{ class: "gpu" as const, count: 1 }];
  try {
    const { id } = await berth.reservations.create({ tenantId, poolId, devices, duration: "1h" });
    const took = Math.round(performance.now() - since);
    await berth.reservations.release({ tenantId, reservationId: id });
    return took;
  } catch (error) {
    if (!isBerthError(error, "NO_CAPACITY") && !isBerthError(error, "UNAVAILABLE")) throw error;
    return Math.round(performance.now() - since);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.trunc(values.length / 2)] ?? 0;
}
