/** F15: requests that are as large as they may be. */
import { type Berth, createBerth, isBerthError } from "@berth/client";
import { testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { node, pool } from "../harness.ts";
import { type Work, underWork } from "./database-kit.ts";
import { faultRun } from "./kit.ts";

const NODES = 1_000;
const BATCH = 250;
const ANSWER_MS = 5_000;
/** The others' slowest in a hundred. */
const OTHERS_MS = 500;
const DAY = 86_400_000;

test("the largest requests that are legal are answered or refused in 5 s, and others go on beside them", async () => {
  await faultRun("F15", 1, async (run) => {
    const database = await testDatabase();
    try {
      return await underWork({ run, database, servers: 1, callers: 4 }, async (work) => {
        const [server] = work.servers;
        if (!server) throw new Error("needs a server");
        const poolId = await largePool(server.actors.admin, server.actors.fleet);
        const berth = createBerth({ url: server.url, token: work.token, maxRetries: 0 });
        const from = work.load.calls.length;
        const told: string[] = [];
        for (let n = 0; n < run.count; n += 1)
          for (const [name, ask] of worst(berth, poolId)) told.push(await timed(name, ask));
        // One that the schema no longer takes would be refused at once, and place nothing.
        expect(told.filter((line) => line.includes(" answered in "))).not.toHaveLength(0);
        const beside = work.load.calls.slice(from).map((call) => call.endedAt - call.startedAt);
        expect(beside.length).toBeGreaterThan(0);
        expect(p99(beside)).toBeLessThanOrEqual(OTHERS_MS);
        return `${told.join(", ")}; ${beside.length} others' calls meanwhile: p99 ${p99(beside)} ms`;
      });
    } finally {
      await database.close();
    }
  });
}, 600_000);

function p99(values: readonly number[]): number {
  return Math.round(values.toSorted((a, b) => a - b)[Math.trunc(values.length * 0.99)] ?? 0);
}

/** Racks of 8 nodes, 8 GPUs a node. */
async function largePool(admin: Berth, fleet: Work["servers"][number]["actors"]["fleet"]) {
  const made = await fleet(pool(1, 1, { offers: { "t-a": { gpu: 100_000 } } }));
  for (let from = 0; from < NODES; from += BATCH) {
    const nodes = Array.from({ length: BATCH }, (_, i) =>
      node(`large-${from + i}`, 8, { labels: { rack: `r${Math.trunc((from + i) / 8)}` } }),
    );
    await admin.fleet.putNodes({ siteId: made.siteId, poolId: made.poolId, nodes });
  }
  return made.poolId;
}

/** Each as large as its schema lets it be, on a pool that is large itself. */
function worst(berth: Berth, poolId: string): [string, () => Promise<unknown>][] {
  const whole = Array.from({ length: 8 }, () => ({ class: "gpu" as const, count: 64 }));
  const eight = [{ class: "gpu" as const, count: 8 }];
  const ask = { tenantId: "t-a", poolId, devices: eight, duration: "300d" };
  const gang = { size: 64 };
  const far = Date.now() + 60 * DAY;
  return [
    ["32,768 units", () => berth.reservations.create({ ...ask, devices: whole, gang })],
    ["512 units in one gang", () => berth.reservations.create({ ...ask, gang, start: far })],
    [
      "a gang of 64 on one rack of 8",
      () => berth.capacity.preview({ ...ask, gang: { size: 64, topologyKey: "rack" } }),
    ],
    [
      "64 times the lines of 8 nodes",
      () => berth.capacity.preview({ ...ask, devices: [{ class: "gpu", count: 64 }], gang }),
    ],
    ["a gang beside the first", () => berth.reservations.create({ ...ask, gang, start: far })],
  ];
}

async function timed(name: string, ask: () => Promise<unknown>): Promise<string> {
  const since = performance.now();
  const answer = await ask().then(
    () => "answered",
    (error: unknown) => (isBerthError(error) ? error.code : String(error)),
  );
  const took = performance.now() - since;
  expect(answer).toMatch(/^(answered|INVALID_INPUT|NO_CAPACITY|QUOTA_EXCEEDED|UNAVAILABLE)$/);
  expect(took, name).toBeLessThan(ANSWER_MS);
  return `${name} ${answer} in ${Math.round(took)} ms`;
}
