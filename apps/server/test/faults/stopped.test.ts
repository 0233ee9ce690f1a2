/** F6: servers that are stopped in their tracks for a while, and go on as if nothing had been. */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { type Berth, createBerth } from "@berth/client";
import { type TestDatabase, testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { ADMIN_KEY, type SpawnedServer, expectHealthy, pool } from "../harness.ts";
import { shiftableClock } from "./clock.ts";
import { type FaultRun, expectSound, faultRun, startVictim } from "./kit.ts";
import { startLoad } from "./load.ts";
import { counter } from "./together.ts";

/** Five at any instant and five at the write. */
const STOPS = 10;
const MARKS = 400;
const STOPPED_MS = Number(process.env["FAULT_STOP_MS"] ?? "3000");
/** How long another server may wait for a pool: because of a server that stands still, and of one that has its lock. */
const GAP_MS = 2_000;
const LOCKED_GAP_MS = 6_000;
const LEASE_S = 30;
const A = "t-a";

test("a server that stood still holds nobody up, writes nothing stale and reads nothing old", async () => {
  await faultRun("F6", STOPS / 2, (run) => standStill(run));
}, 600_000);

async function standStill({ count, random }: FaultRun): Promise<string> {
  const database = await testDatabase();
  const clock = await shiftableClock(database);
  // Far more than the stops that are waited for: what is due is written here too, and comes past them.
  const atTheWrite = Array.from({ length: MARKS }, (_, i) => `apply.before:stop:${3 * (i + 1)}`);
  const [sudden, writing, other] = await Promise.all([
    startVictim(database.url),
    startVictim(database.url, { BERTH_FAILPOINT: atTheWrite.join(",") }),
    startVictim(database.url),
  ]);
  const servers = [sudden, writing, other];
  const { fleet, token } = other.actors;
  const { poolId } = await fleet(pool(32, 8));
  const key = await token(A);
  const [one, two, three] = servers.map(({ url }) =>
    createBerth({ url, token: key, maxRetries: 6, timeoutMs: 60_000 }),
  ) as [Berth, Berth, Berth];
  const shape = { tenantId: A, poolIds: [poolId], random, callers: 3 };
  const held = startLoad({ ...shape, clients: [one] });
  const beside = startLoad({ ...shape, clients: [three] });
  let longest = 0;
  let resume = keptGoing(writing);
  try {
    for (let stop = 0; stop < count; stop += 1) {
      const { id } = await three.reservations.create({ ...ONE, poolId, leaseSeconds: LEASE_S });
      // The one that is about to stop has read it as it is now: with ten seconds left.
      await clock.advance((LEASE_S - 10) * 1_000);
      await one.reservations.get({ tenantId: A, reservationId: id });
      resume();
      const writes = await untilItStands(writing, () =>
        two.reservations.create({ ...ONE, poolId }),
      );
      await delay(random() * 100);
      sudden.process.kill("SIGSTOP");
      await stands(sudden);
      const sinceStop = performance.now();
      const renewed = await three.reservations.renew({ tenantId: A, reservationId: id });
      await delay(STOPPED_MS);
      // As it was read, it would be over.
      await clock.advance(11_000);
      const booked = await three.reservations.create({ ...ONE, poolId });
      const newest = await seqAt(other, poolId);
      longest = Math.max(longest, beside.longestGap(0, sinceStop, performance.now()));
      for (const [server, berth] of [
        [sudden, one],
        [writing, two],
      ] as const) {
        if (server === writing) resume = keptGoing(writing);
        else server.process.kill("SIGCONT");
        // The very first thing that it says is as new as what the other one has said.
        expect(await seqAt(server, poolId)).toBeGreaterThanOrEqual(newest);
        const seen = await berth.reservations.get({ tenantId: A, reservationId: booked.id });
        expect(seen.state).toBe("active");
        const kept = await berth.reservations.get({ tenantId: A, reservationId: id });
        expect(kept.state).toBe("active");
        expect(kept.leaseExpiresAt).toBeGreaterThanOrEqual(renewed.leaseExpiresAt ?? Infinity);
      }
      const made = await writes();
      for (const reservationId of [id, booked.id, ...made.map((each) => each.id)])
        await three.reservations.release({ tenantId: A, reservationId });
    }
    await Promise.all([held.stop(), beside.stop()]);
    for (const load of [held, beside]) await expectSound({ database, load, servers });
    for (const load of [held, beside])
      expect(load.calls.filter(({ outcome }) => outcome !== "ack")).toEqual([]);
    expect(longest).toBeLessThanOrEqual(GAP_MS);
    expect(await counter(writing.url, "berth_gate_lost_total")).toBeGreaterThanOrEqual(count);
    const acks = held.count("ack") + beside.count("ack");
    return (
      `${2 * count} stops of ${STOPPED_MS / 1_000} s (${count} at any instant, ${count} at the write), ` +
      `the other server's longest gap ${Math.round(longest)} ms, ${acks} acks, 0 lost, doctor clean`
    );
  } finally {
    resume();
    for (const server of servers) server.process.kill("SIGCONT");
    await Promise.all([held.stop(), beside.stop()]);
    for (const server of servers) await server.kill("SIGKILL");
    await database.close();
  }
}

/** Wherever else it comes past the point where it stops, it goes on at once; until the function is called. */
function keptGoing({ process }: SpawnedServer): () => void {
  process.kill("SIGCONT");
  const timer = setInterval(() => process.kill("SIGCONT"), 50);
  return () => clearInterval(timer);
}

/** Books one after the other until the server stops amid one; resolves then, with what will have been booked. */
async function untilItStands<T>(
  server: SpawnedServer,
  book: () => Promise<T>,
): Promise<() => Promise<T[]>> {
  const made: Promise<T>[] = [];
  const stood = stands(server).then(() => true);
  for (;;) {
    const next = book();
    made.push(next);
    if (await Promise.race([stood, next.then(() => false)])) return () => Promise.all(made);
  }
}

test("a server that stood still with a pool's lock holds the pool up for 6 s at most", async () => {
  await faultRun("F6", 1, async ({ random }) => {
    const database = await testDatabase();
    // It plans slowly, so that it loses the gate again and again, takes the lock, and stops under it.
    const slow = { BERTH_FAILPOINT: "place.done:delay:300,apply.before:stop:9" };
    const servers = await Promise.all([startVictim(database.url, slow), startVictim(database.url)]);
    const [locking, other] = servers as [SpawnedServer, SpawnedServer];
    const { fleet, token } = other.actors;
    const { poolId } = await fleet(pool(32, 8));
    const key = await token(A);
    const to = ({ url }: SpawnedServer, maxRetries: number) =>
      createBerth({ url, token: key, maxRetries, timeoutMs: 60_000 });
    // Its call is late by the time that it goes on, and is made again.
    const [one, two] = [to(locking, 6), to(other, 0)];
    const load = startLoad({ clients: [two], tenantId: A, poolIds: [poolId], random, thinkMs: 5 });
    try {
      await load.acked(20);
      const booking = one.reservations.create({ ...ONE, poolId });
      await stands(locking);
      const sinceStop = performance.now();
      expect(await idleWithLock(database)).toBe(1);
      await delay(LOCKED_GAP_MS);
      const longest = load.longestGap(0, sinceStop, performance.now());
      locking.process.kill("SIGCONT");
      expect((await booking).state).toBe("active");
      await load.stop();
      await expectSound({ database, load, servers });
      expect(load.calls.filter(({ outcome }) => outcome !== "ack")).toEqual([]);
      expect(longest).toBeLessThanOrEqual(LOCKED_GAP_MS);
      return `1 stop of 6 s under the pool's lock, the other server's longest gap ${Math.round(longest)} ms, ${load.count("ack")} acks, 0 lost, doctor clean`;
    } finally {
      locking.process.kill("SIGCONT");
      await load.stop();
      for (const server of servers) await server.kill("SIGKILL");
      await expectHealthy(database.url);
      await database.close();
    }
  });
}, 600_000);

const ONE = { tenantId: A, devices: [{ class: "gpu" as const, count: 1 }], duration: "1h" };

/** Resolves when the process is stopped, however long it takes on its way there. */
async function stands({ process: { pid } }: SpawnedServer): Promise<void> {
  const state = () => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.[0];
  while (state() !== "T") await delay(5);
}

/** The pool's sequence that a server's answer is at. */
async function seqAt({ url }: SpawnedServer, poolId: string): Promise<number> {
  const response = await fetch(`${url}/api/compute/capacity/byPool`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ tenantId: A, poolId }),
  });
  expect(response.status).toBe(200);
  return Number(response.headers.get("x-berth-seq") ?? "nothing");
}

/** Sessions that have a transaction open and do nothing in it. */
async function idleWithLock({ sql }: TestDatabase): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
     where datname = current_database() and state = 'idle in transaction'`;
  return row?.count ?? 0;
}
