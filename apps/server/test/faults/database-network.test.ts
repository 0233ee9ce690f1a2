/** F9: the network between servers and database is slow, cuts everything in pieces, swallows it, or refuses. */
import { setTimeout as delay } from "node:timers/promises";
import { type FaultProxy, faultProxy, testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { HUNG_MS, type Work, acked, underWork, untilAck } from "./database-kit.ts";
import { faultRun } from "./kit.ts";

const HOLE_MS = 10_000;
const REFUSED_MS = 5_000;
/** Who cannot reach the database says so in this time; and answers again so soon after. */
const UNAVAILABLE_MS = 5_000;
const RECOVERY_MS = 5_000;

test("slow, torn, black and closed networks delay or refuse calls, each within its limit, and lose none", async () => {
  await faultRun("F9", 1, async (run) => {
    const database = await testDatabase();
    const proxy = await faultProxy(database.url, run.random);
    try {
      return await underWork({ run, database, url: proxy.url }, async (work) => {
        const told: string[] = [];
        for (let n = 0; n < run.count; n += 1) {
          await slow(proxy, work);
          await torn(proxy, work);
          told.push(await black(proxy, work), await closed(proxy, work));
        }
        const { delayed, sliced, held, refused } = proxy.counts;
        for (const count of [delayed, sliced, held, refused]) expect(count).toBeGreaterThan(0);
        return `${delayed} messages late, ${sliced} in 7-byte pieces, ${held} in a black hole, ${refused} connections refused: ${told.join(", ")}`;
      });
    } finally {
      await proxy.close();
      await database.close();
    }
  });
}, 600_000);

async function slow(proxy: FaultProxy, { load }: Work): Promise<void> {
  proxy.set({ kind: "latency", ms: 0, jitter: 40 });
  await acked(load, 60);
  proxy.set();
}

async function torn(proxy: FaultProxy, { load }: Work): Promise<void> {
  proxy.set({ kind: "slice", bytes: 7 });
  await acked(load, 60);
  proxy.set();
}

/** Nobody is told that nothing comes through: only time-outs find out. */
async function black(proxy: FaultProxy, { load }: Work): Promise<string> {
  const since = performance.now();
  proxy.set({ kind: "blackhole" });
  await delay(HOLE_MS);
  proxy.set();
  const over = performance.now();
  const noticed = load.calls.filter(
    ({ outcome, endedAt }) => outcome === "unavailable" && endedAt > since && endedAt < over,
  );
  expect(noticed.length).toBeGreaterThan(0);
  const first = Math.min(...noticed.map(({ endedAt }) => endedAt)) - since;
  expect(first).toBeLessThan(HUNG_MS);
  const back = await untilAck(load);
  expect(back).toBeLessThan(RECOVERY_MS);
  return `the hole noticed after ${Math.round(first)} ms, over for callers ${Math.round(back)} ms after its end`;
}

async function closed(proxy: FaultProxy, { load }: Work): Promise<string> {
  await acked(load, 20);
  const since = performance.now();
  proxy.set({ kind: "refuse" });
  proxy.cutAll();
  await delay(REFUSED_MS);
  proxy.set();
  const over = performance.now();
  const meanwhile = load.calls.filter(({ startedAt }) => startedAt > since && startedAt < over);
  const slowest = Math.max(...meanwhile.map((call) => call.endedAt - call.startedAt));
  expect(meanwhile.filter(({ outcome }) => outcome === "unavailable").length).toBeGreaterThan(0);
  expect(slowest).toBeLessThan(UNAVAILABLE_MS);
  const back = await untilAck(load);
  expect(back).toBeLessThan(RECOVERY_MS);
  return `refused within ${Math.round(slowest)} ms, back after ${Math.round(back)} ms`;
}
