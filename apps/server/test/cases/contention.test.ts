/** Many callers at once: nobody is refused what is there, nobody gets what is not, nothing is counted twice. */
import { createPoolStore, openDatabase } from "@berth/db";
import { type Engine, createEngine } from "@berth/engine";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServer, pool, startServer } from "../harness.ts";
import {
  type Asker,
  HOUR,
  NOW,
  SECOND,
  asker,
  bookGpus,
  outcomes,
  range,
  refusal,
  release,
  unitsOf,
} from "./asking.ts";
import {
  expectConsistent,
  expectEmptyAfterRelease,
  gpuRow,
  gpusOf,
  liveReservations,
  releaseEach,
  usedBy,
} from "./invariants.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
});
afterAll(() => server.stop());

const TENANTS = ["t-a", "t-b", "t-c", "t-d"] as const;
const QUOTA = { gpu: 1_000 };

/** Words of a database that no caller may ever read. */
const INSIDES =
  /SQLSTATE|serializ|deadlock|duplicate key|exclusion|\b(?:40001|40P01|23505|23P01)\b/i;

describe("forty parallel wishes for forty GPUs", () => {
  it("are all granted, on forty GPUs, and one more is told that there is no room", async () => {
    const offers = Object.fromEntries(TENANTS.map((tenantId) => [tenantId, QUOTA]));
    const fleet = await server.fleet(pool(5, 8, { offers }));
    const askers = await Promise.all(TENANTS.map((tenantId) => asker(server, tenantId, fleet)));
    for (let round = 0; round < 20; round += 1) {
      const booked = await Promise.all(
        range(40).map((i) =>
          bookGpus(askers[i % 4] as Asker, 1, { idempotencyKey: `round-${round}-${i}` }),
        ),
      );
      expect(new Set(booked.flatMap(unitsOf)).size).toBe(40);
      const late = await refusal(bookGpus(askers[round % 4] as Asker, 1));
      expect(late.code).toBe("NO_CAPACITY");
      expect(`${late.message} ${JSON.stringify(late.details)}`).not.toMatch(INSIDES);
      expect(await gpuRow(server, fleet)).toMatchObject({ allocated: 40, available: 0 });
      if (round === 19) await expectConsistent(server, fleet);
      await releaseEach(server, booked);
      expect(await gpuRow(server, fleet)).toMatchObject({ allocated: 0, available: 40 });
    }
    await expectEmptyAfterRelease(server, fleet);
  }, 180_000);

  it("for ten GPUs are ten times yes and thirty times no room, and nothing else", async () => {
    const fleet = await server.fleet(pool(2, 5));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const calls = range(40).map((i) => bookGpus(i % 2 ? a : b, 1));
    const refused = calls.map((call) => call.then(() => "", String));
    expect(await outcomes(calls)).toEqual({ OK: 10, NO_CAPACITY: 30 });
    expect((await Promise.all(refused)).join("\n")).not.toMatch(INSIDES);
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("the last one", () => {
  it("of the GPUs goes to one of fifty pairwise overlapping windows", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    const calls = range(50).map((i) =>
      bookGpus(a, 1, { start: NOW + HOUR + i * 10 * SECOND, duration: "1h" }),
    );
    expect(await outcomes(calls)).toEqual({ OK: 1, NO_CAPACITY: 49 });
    expect(await liveReservations(server, fleet)).toHaveLength(1);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("of the quota goes to one caller, and who comes late is over quota, not out of room", async () => {
    const fleet = await server.fleet(pool(4, 8, { offers: { "t-a": { gpu: 5 } } }));
    const a = await asker(server, "t-a", fleet);
    const calls = range(20).map(() => bookGpus(a, 1));
    expect(await outcomes(calls)).toEqual({ OK: 5, QUOTA_EXCEEDED: 15 });
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(5);
    expect(await gpuRow(server, fleet)).toMatchObject({ allocated: 5, available: 27 });
    const late = await refusal(bookGpus(a, 1));
    expect(late.details).toEqual(
      expect.objectContaining({ resource: "gpu", max: 5, peak: 5, requested: 1 }),
    );
    await expectEmptyAfterRelease(server, fleet);
  });

  it("of two tenants' quotas is each tenant's own", async () => {
    const offers = { "t-a": { gpu: 5 }, "t-b": { gpu: 5 } };
    const fleet = await server.fleet(pool(4, 8, { offers }));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const calls = range(40).map((i) => bookGpus(i % 2 ? a : b, 1));
    const ofA = calls.filter((_, i) => i % 2 === 1);
    const ofB = calls.filter((_, i) => i % 2 === 0);
    const [a20, b20] = await Promise.all([outcomes(ofA), outcomes(ofB)]);
    expect(a20).toEqual({ OK: 5, QUOTA_EXCEEDED: 15 });
    expect(b20).toEqual({ OK: 5, QUOTA_EXCEEDED: 15 });
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(5);
    expect(await usedBy(server, fleet, ["t-b", "gpu"])).toBe(5);
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("twenty releases at once of one reservation", () => {
  it("give it back once: what others hold, and what it may hold, stays as counted", async () => {
    const fleet = await server.fleet(pool(1, 8));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const mine = await bookGpus(a, 4);
    await bookGpus(b, 2);
    const ended = await Promise.all(range(20).map(() => release(a, mine)));
    for (const answer of ended) expect(answer).toMatchObject({ id: mine.id, state: "released" });
    expect(new Set(ended.map(({ version }) => version))).toEqual(new Set([mine.version + 1]));
    expect(await gpuRow(server, fleet)).toMatchObject({ allocated: 2, available: 6 });
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(0);
    expect(await usedBy(server, fleet, ["t-b", "gpu"])).toBe(2);
    expect((await refusal(bookGpus(a, 7))).code).toBe("NO_CAPACITY");
    expect((await refusal(bookGpus(a, 10))).code).toBe("NO_CAPACITY");
    expect(gpusOf([await bookGpus(a, 6)]).size).toBe(6);
    await expectConsistent(server, fleet);
    expect(await recounted(fleet.poolId)).toEqual([]);
    await expectEmptyAfterRelease(server, fleet);
    expect(await recounted(fleet.poolId)).toEqual([]);
  });

  it("that has not begun give its reserved GPUs back once", async () => {
    const fleet = await server.fleet(pool(1, 8));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const start = NOW + 3 * HOUR;
    const mine = await bookGpus(a, 4, { start });
    await bookGpus(b, 2, { start });
    expect(await gpuRow(server, fleet)).toMatchObject({ allocated: 0, reserved: 6 });
    const ended = await Promise.all(range(20).map(() => release(a, mine)));
    for (const answer of ended) expect(answer).toMatchObject({ id: mine.id, state: "released" });
    expect(await gpuRow(server, fleet)).toMatchObject({ allocated: 0, reserved: 2 });
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(0);
    expect(await usedBy(server, fleet, ["t-b", "gpu"])).toBe(2);
    expect((await refusal(bookGpus(a, 7, { start }))).code).toBe("NO_CAPACITY");
    expect(gpusOf([await bookGpus(a, 6, { start })]).size).toBe(6);
    expect(await recounted(fleet.poolId)).toEqual([]);
    await expectEmptyAfterRelease(server, fleet);
  });
});

/** What the periodic recount would put right: run as another process of the fleet would run it. */
async function recounted(poolId: string): Promise<unknown[]> {
  const database = openDatabase(server.database.url, { connections: 2, writers: 1 });
  const quiet = { info() {}, warn() {}, error() {} };
  const engine = createEngine({
    store: createPoolStore(database),
    random: randomBytes,
    log: quiet,
    elapsed: () => performance.now(),
  });
  try {
    return await engine.rebuild(poolId as Parameters<Engine["rebuild"]>[0]);
  } finally {
    await engine.stop();
    await database.close();
  }
}
