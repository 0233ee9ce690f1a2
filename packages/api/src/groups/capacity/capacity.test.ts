import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TIME_MAX } from "@berth/domain";
import { BookingApi, HOUR, MINUTE, NOW } from "../test-kit.ts";
import { timelineWindow } from "./timeline.ts";

const UNIT = `unit_${"0".repeat(26)}`;
const NODE = { class: "node", count: 1 };
const LEASE = { binding: "node", node: { profileId: "p" } };

let api: BookingApi;
beforeAll(async () => {
  api = await BookingApi.open();
});
afterAll(() => api.close());

const OWNER = { tenantId: "t-own" } as const;
const DAY = 24 * HOUR;

describe("capacity.summary", () => {
  it("sums whole GPUs by model as numbers, pools without a model under other", async () => {
    const gpuModel = "S-1";
    const first = await api.pool(1, 8, { gpuModel });
    await api.pool(1, 8, { gpuModel });
    const nameless = await api.call("pools.create", {
      ...OWNER,
      siteId: api.siteId,
      class: "metal-host",
    });
    await api.call("fleet.putNodes", {
      siteId: api.siteId,
      poolId: nameless.id,
      nodes: [api.report("nameless", 4)],
    });
    await api.book(first, 3);
    const summary = await api.call("capacity.summary", OWNER);
    expect(summary.byGpuModel[gpuModel]).toEqual({
      total: 16,
      allocatable: 16,
      allocated: 3,
      reserved: 0,
      available: 13,
    });
    expect(summary.byGpuModel["other"]?.total).toBe(4);
    const guest = await api.call("capacity.summary", { tenantId: "t-b" });
    expect(guest.byGpuModel[gpuModel]).toEqual(summary.byGpuModel[gpuModel]);
    expect(guest.byGpuModel["other"]).toBeUndefined();
    for (const row of await api.capacityAgrees(first)) expect(row["updatedAt"]).toBe(NOW);
  });

  it("counts nothing that is over, whether or not a worker has run", async () => {
    const poolId = await api.pool(1, 4);
    await api.book(poolId, 3, { duration: "10s" });
    await api.book(poolId, 1, { start: NOW + 60_000, duration: "10s" });
    expect(await api.gpuRow(poolId)).toMatchObject({ allocated: 3, reserved: 1, available: 0 });
    await api.clock.advance(10_000);
    expect(await api.gpuRow(poolId)).toMatchObject({ allocated: 0, reserved: 1, available: 3 });
    await api.clock.advance(50_000);
    expect(await api.gpuRow(poolId)).toMatchObject({ allocated: 1, reserved: 0, available: 3 });
    await api.clock.set(NOW + HOUR);
    expect(await api.gpuRow(poolId)).toMatchObject({ allocated: 0, reserved: 0, available: 4 });
    expect(await api.used(poolId, "t-a")).toBe(0);
    await api.capacityAgrees(poolId);
    await api.clock.set(NOW);
  });

  it("asks the database as often for many pools as for one", async () => {
    await api.call("fleet.putTenant", { tenantId: "t-sum" });
    const ask = { tenantId: "t-sum" };
    const offer = async () => {
      const poolId = await api.pool(0, 0);
      await api.call("pools.offer", { ...OWNER, poolId, toTenantId: "t-sum", quota: { gpu: 1 } });
    };
    await offer();
    const before = await api.statements("capacity.summary", ask);
    for (let more = 0; more < 4; more += 1) await offer();
    expect((await api.call("capacity.summary", ask)).pools).toHaveLength(5);
    expect(await api.statements("capacity.summary", ask)).toBe(before);
  });
});

describe("capacity.preview", () => {
  it("says what create would do, and writes nothing", async () => {
    const poolId = await api.pool(2, 4);
    const wish = api.wish(poolId, 4);
    const now = await api.clock.now();
    const seen = await api.call("capacity.preview", wish);
    expect(seen).toMatchObject({
      fits: true,
      start: now,
      end: now + HOUR,
      reason: null,
      preemptible: null,
      earliestStart: now,
      asOf: now,
    });
    expect(seen.candidates).toHaveLength(2);
    for (const candidate of seen.candidates) expect(candidate.atoms).toHaveLength(4);
    const { reservations } = await api.call("reservations.list", { tenantId: "t-a", poolId });
    expect(reservations).toEqual([]);

    const made = await api.call("reservations.create", wish);
    expect(made.members?.[0]?.atoms.map((atom) => atom.unitId)).toEqual(seen.candidates[0]?.atoms);
  });

  it("gives the reason that create gives, nodes adding up, and the first time at which it fits", async () => {
    const poolId = await api.pool(2, 4);
    await api.book(poolId, 4, { duration: "2h" });
    await api.book(poolId, 4, { duration: "3h", tenantId: "t-b" });
    const seen = await api.call("capacity.preview", api.wish(poolId, 4));
    const now = await api.clock.now();
    expect(seen).toMatchObject({ fits: false, candidates: [], earliestStart: now + 2 * HOUR });
    expect(seen.reason?.code).toBe("BUSY");
    expect(seen.reason?.blocked.reduce((sum, { nodes }) => sum + nodes, 0)).toBe(2);
    expect(seen.reason?.message).not.toContain("t-b");
    const refusal = await api.error("reservations.create", api.wish(poolId, 4));
    expect(refusal).toMatchObject({
      code: "NO_CAPACITY",
      details: { reason: seen.reason, earliestStart: now + 2 * HOUR },
    });
  });

  it("checks no quota, and quote does", async () => {
    const poolId = await api.pool(1, 8, { quota: 2 });
    expect((await api.call("capacity.preview", api.wish(poolId, 8))).fits).toBe(true);
    const quote = await api.call("reservations.quote", {
      ...api.wish(poolId, 8),
      alternatives: [{ devices: [{ class: "gpu", count: 2 }] }, { duration: "2h" }],
    });
    expect(quote.preview.fits).toBe(true);
    expect(quote.quota).toEqual({
      ok: false,
      rows: [{ resource: "gpu", max: 2, peak: 0, remaining: null, asked: 8 }],
    });
    expect(quote.alternatives.map(({ quota }) => quota.ok)).toEqual([true, false]);
    expect(quote.alternatives[1]?.preview.end).toBe(quote.preview.start + 2 * HOUR);
  });

  it.each([
    [{ binding: "node" }, ["node", "profileId"]],
    [{ binding: "node", node: { profileId: "p" } }, ["devices", 0, "class"]],
    [{ node: { profileId: "p" } }, ["node"]],
    [{ devices: [{ class: "node", count: 1 }] }, ["devices", 0, "class"]],
    [{ ...LEASE, devices: [NODE, { class: "gpu", count: 1 }] }, ["devices", 0, "class"]],
    [{ ...LEASE, devices: [{ ...NODE, count: 2 }], gang: { size: 2 } }, ["devices", 0, "count"]],
    [
      { ...LEASE, devices: [{ ...NODE, selector: { unitIds: [UNIT] } }] },
      ["devices", 0, "selector", "unitIds"],
    ],
    [
      {
        gang: { size: 2 },
        devices: [{ class: "gpu", count: 1, selector: { unitIds: [UNIT] } }],
      },
      ["devices", 0, "selector", "unitIds"],
    ],
    [{ gang: { size: 64 }, devices: Array(2).fill({ class: "gpu", count: 64 }) }, ["devices"]],
    [{ wait: { timeoutMs: 30_001 } }, ["wait", "timeoutMs"]],
    [{ gang: { size: 65 } }, ["gang", "size"]],
    [{ devices: [{ class: "gpu", count: 1, sharing: "mps" }] }, ["devices", 0, "sharing"]],
    [{ duration: "999ms" }, ["duration"]],
    [{ duration: "367d" }, ["duration"]],
    [{ start: NOW - HOUR }, ["start"]],
    [{ start: NOW + 367 * DAY }, ["start"]],
  ])("refuses %o by its field, as create and quote do", async (given, path) => {
    const poolId = await api.pool(1, 1);
    for (const method of [
      "capacity.preview",
      "reservations.create",
      "reservations.quote",
    ] as const) {
      const { code, issues } = await api.error(method, api.wish(poolId, 1, given));
      expect([method, code]).toEqual([method, "INVALID_INPUT"]);
      expect(issues?.map((issue) => issue.path)).toContainEqual(path);
    }
    expect(await api.used(poolId, "t-a")).toBe(0);
  });
});

describe("an alternative of a quote", () => {
  it("is refused by a path that leads into it, by input alone and by the pool", async () => {
    const poolId = await api.pool(1, 1);
    for (const [wrong, path] of [
      [{ duration: "1ms" }, ["duration"]],
      [{ node: { profileId: "p" } }, ["node"]],
      [{ devices: [{ class: "node", count: 1 }] }, ["devices", 0, "class"]],
      [{ duration: "367d" }, ["duration"]],
      [{ start: NOW - HOUR }, ["start"]],
    ] as const) {
      const alternatives = [{ duration: "2h" }, wrong];
      const asked = api.wish(poolId, 1, { alternatives });
      const { code, issues } = await api.error("reservations.quote", asked);
      expect([code, issues?.map((issue) => issue.path)]).toEqual([
        "INVALID_INPUT",
        [["alternatives", 1, ...path]],
      ]);
    }
  });

  it("that only inherits what is wrong does not say it again", async () => {
    const poolId = await api.pool(1, 1);
    for (const duration of ["1ms", "367d"]) {
      const asked = api.wish(poolId, 1, { duration, alternatives: [{}, {}] });
      const { issues } = await api.error("reservations.quote", asked);
      expect(issues?.map((issue) => issue.path)).toEqual([["duration"]]);
    }
  });
});

describe("a pool that takes bookings until the end of time", () => {
  it("previews, quotes and refuses them like any other", async () => {
    const horizon = TIME_MAX;
    const poolId = await api.pool(1, 1, { policy: { horizon, maxDuration: horizon } });
    const wish = api.wish(poolId, 2);
    const seen = await api.call("capacity.preview", wish);
    const searchedTo = TIME_MAX - HOUR;
    expect(seen).toMatchObject({ fits: false, earliestStart: null, searchedTo });
    const quote = await api.call("reservations.quote", { ...wish, alternatives: [{}] });
    expect(quote.alternatives[0]?.preview.searchedTo).toBe(searchedTo);
    expect(await api.error("reservations.create", wish)).toMatchObject({
      code: "NO_CAPACITY",
      details: { earliestStart: null, searchedTo, latestEnd: null },
    });
    const last = await api.book(poolId, 1, { start: searchedTo, leaseSeconds: 86_400 });
    expect(last).toMatchObject({ end: TIME_MAX, leaseExpiresAt: TIME_MAX });
    const past = await api.error("reservations.create", api.wish(poolId, 1, { start: TIME_MAX }));
    expect(past.issues?.map((issue) => issue.path)).toEqual([["duration"]]);
  });
});

describe("capacity.timeline", () => {
  it("ends with time itself, and begins before that", async () => {
    const poolId = await api.pool(1, 1);
    const from = TIME_MAX - 90 * MINUTE;
    const line = await api.call("capacity.timeline", { ...OWNER, poolId, from });
    expect(line).toMatchObject({ from, to: TIME_MAX });
    expect(line.buckets.map(({ start }) => start)).toEqual([from, from + HOUR]);
    const { code, issues } = await api.error("capacity.timeline", {
      ...OWNER,
      poolId,
      from: TIME_MAX,
    });
    expect([code, issues?.map((issue) => issue.path)]).toEqual(["INVALID_INPUT", [["to"]]]);
  });

  it("counts each GPU once a bucket, half open, bookings that enclose the span too", async () => {
    const at = (await api.clock.now()) + DAY;
    const poolId = await api.pool(1, 8);
    const book = (gpus: number, from: number, to: number) =>
      api.book(poolId, gpus, { start: at + from, duration: to - from });
    await book(2, HOUR, 2 * HOUR);
    await book(1, -5 * HOUR, 20 * HOUR);
    await book(1, 4 * HOUR, 5 * HOUR);
    await book(1, -HOUR, 0);
    await book(1, 3 * HOUR - 1_000, 3 * HOUR);
    const line = await api.call("capacity.timeline", {
      ...OWNER,
      poolId,
      from: at,
      to: at + 4 * HOUR,
      stepMinutes: 60,
    });
    expect(line.allocatable).toBe(8);
    expect(line.buckets).toEqual(
      [1, 3, 2, 1].map((booked, i) => ({ start: at + i * HOUR, booked, free: 8 - booked })),
    );
  });

  it("begins with the present hour and spans a day when nothing is said", async () => {
    const poolId = await api.pool(1, 1);
    await api.clock.set(NOW + 17 * MINUTE);
    const line = await api.call("capacity.timeline", { ...OWNER, poolId });
    expect(line).toMatchObject({ from: NOW, to: NOW + DAY, stepMinutes: 60 });
    expect(line.buckets).toHaveLength(24);
    await api.clock.set(NOW);
  });

  it("takes 7 days and 336 buckets at most, and needs an end after its beginning", () => {
    const code = (input: object) => {
      const window = timelineWindow(input, NOW);
      return window.ok ? "ok" : window.refusal.code;
    };
    expect(code({ from: 0, to: 7 * DAY, stepMinutes: 30 })).toBe("ok");
    expect(code({ from: 0, to: 7 * DAY + 1, stepMinutes: 60 })).toBe("INVALID_INPUT");
    expect(code({ from: 0, to: 336 * 5 * MINUTE, stepMinutes: 5 })).toBe("ok");
    expect(code({ from: 0, to: 336 * 5 * MINUTE + 1, stepMinutes: 5 })).toBe("INVALID_INPUT");
    expect(code({ from: 5, to: 5 })).toBe("INVALID_INPUT");
    expect(code({ from: 6, to: 5 })).toBe("INVALID_INPUT");
    expect(code({ to: NOW - DAY })).toBe("INVALID_INPUT");
  });
});
