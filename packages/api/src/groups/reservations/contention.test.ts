import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PoolId } from "@berth/domain";
import { BookingApi, GUESTS, HOUR } from "../test-kit.ts";

let api: BookingApi;
beforeAll(async () => {
  api = await BookingApi.open();
});
afterAll(() => api.close());

const OWNER = { tenantId: "t-own" } as const;

describe("many callers at once", () => {
  it("all get a GPU of their own while there are any, and the next one is told that there is none", async () => {
    const poolId = await api.pool(5, 8);
    for (let round = 0; round < 3; round += 1) {
      const made = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          api.book(poolId, 1, { tenantId: [...GUESTS, "t-own"][i % 4] }),
        ),
      );
      const units = made.flatMap((r) => r.members?.flatMap((m) => m.atoms) ?? []);
      expect(new Set(units.map((atom) => atom.unitId)).size).toBe(40);
      const { code, message } = await api.error("reservations.create", api.wish(poolId, 1));
      expect(code).toBe("NO_CAPACITY");
      expect(message).not.toMatch(/SQL|serializ|deadlock|duplicate|exclusion/i);
      await Promise.all(made.map((r) => api.release(r)));
      expect(await api.gpuRow(poolId)).toMatchObject({ allocated: 0, reserved: 0, available: 40 });
    }
  });

  it("with overlapping windows on one GPU: one is booked, the others do not fit", async () => {
    const poolId = await api.pool(1, 1);
    const T = (await api.clock.now()) + HOUR;
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        api.outcome("reservations.create", api.wish(poolId, 1, { start: T + i * 10_000 })),
      ),
    );
    const codes = outcomes.map((outcome) => outcome.code);
    expect(codes.filter((code) => code === "OK")).toHaveLength(1);
    expect(codes.filter((code) => code === "NO_CAPACITY")).toHaveLength(49);
  });

  it("of two tenants with a quota each: each gets its own, to the last unit", async () => {
    const poolId = await api.pool(4, 8, { quota: 5 });
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, async (_, i) => {
        const tenantId = i % 2 === 0 ? "t-a" : "t-b";
        const wish = api.wish(poolId, 1, { tenantId });
        return `${tenantId} ${(await api.outcome("reservations.create", wish)).code}`;
      }),
    );
    for (const tenantId of ["t-a", "t-b"]) {
      expect(outcomes.filter((o) => o === `${tenantId} OK`)).toHaveLength(5);
      expect(outcomes.filter((o) => o === `${tenantId} QUOTA_EXCEEDED`)).toHaveLength(7);
      expect(await api.used(poolId, tenantId)).toBe(5);
    }
  });
});

describe("releasing one reservation many times at once", () => {
  it.each([
    ["a running one", 0],
    ["a scheduled one", HOUR],
  ])("gives back once what %s held", async (_name, ahead) => {
    const poolId = await api.pool(1, 8);
    const start = (await api.clock.now()) + ahead;
    const mine = await api.book(poolId, 4, { start });
    await api.book(poolId, 2, { start, tenantId: "t-b" });
    const ended = await Promise.all(Array.from({ length: 20 }, () => api.release(mine)));
    for (const answer of ended) expect(answer).toEqual(ended[0]);
    const held = ahead === 0 ? "allocated" : "reserved";
    expect((await api.gpuRow(poolId))[held]).toBe(2);
    expect(await api.used(poolId, "t-a")).toBe(0);
    expect(await api.used(poolId, "t-b")).toBe(2);
    expect(await api.test.deps.engine.rebuild(poolId as PoolId)).toEqual([]);
    expect((await api.error("reservations.create", api.wish(poolId, 7, { start }))).code).toBe(
      "NO_CAPACITY",
    );
    expect((await api.book(poolId, 6, { start })).version).toBe(1);
    const told = (await api.events("t-a", poolId)).filter((t) => t === "reservation.released");
    expect(told).toHaveLength(1);
    await api.capacityAgrees(poolId);
  });
});

describe("a pool that a tenant does not see", () => {
  it("is answered as a pool that is not there: NOT_FOUND, and what is wrong by itself before", async () => {
    const { id: hidden } = await api.call("pools.create", {
      ...OWNER,
      siteId: api.siteId,
      class: "metal-host",
    });
    const nowhere = `pool_${"0".repeat(26)}`;
    const wish = (poolId: string) => api.wish(poolId, 1, { idempotencyKey: "one" });
    const ref = (poolId: string) => ({ tenantId: "t-c", poolId });
    const line = { class: "gpu", count: 1, selector: { unitIds: [`unit_${"0".repeat(26)}`] } };
    const HIDDEN = [
      ["pools.get", ref, {}],
      ["pools.capacity", ref, {}],
      ["pools.archive", ref, {}],
      ["capacity.byPool", ref, {}],
      ["capacity.timeline", ref, {}],
      ["capacity.timeline", ref, { to: 3 }],
      ["pools.offer", ref, { toTenantId: "t-none", quota: {} }],
      ["pools.unoffer", ref, { toTenantId: "t-own" }],
      ["pools.update", ref, { policy: { singleTenant: true } }],
      ["capacity.preview", wish, {}],
      ["reservations.create", wish, {}],
      ["reservations.quote", wish, { alternatives: [{ duration: "400d" }] }],
      ["reservations.create", wish, { gang: { size: 2 } }],
      ["reservations.create", wish, { spot: true }],
      ["reservations.create", wish, { wait: { timeoutMs: 1 } }],
      ["reservations.create", wish, { start: 0 }],
      ["reservations.create", wish, { duration: "400d" }],
      ["reservations.create", wish, { devices: [{ class: "gpu", count: 1, sharing: "mps" }] }],
    ] as const;
    const WRONG = [
      ["capacity.timeline", ref, { stepMinutes: 1 }],
      ["capacity.timeline", ref, { from: 9, to: 3 }],
      ["capacity.timeline", ref, { from: 3, to: 3 }],
      ["capacity.timeline", ref, { from: 0, to: 8 * 24 * HOUR }],
      ["capacity.timeline", ref, { from: 0, to: 7 * 24 * HOUR, stepMinutes: 5 }],
      ["pools.update", ref, { policy: { horizon: "0h" } }],
      ["pools.update", ref, { policy: { maxDuration: "999ms" } }],
      ["pools.update", ref, { policy: { migLayout: { H100: [] } } }],
      ["capacity.preview", wish, { duration: "1ms" }],
      ["reservations.create", wish, { duration: "1ms" }],
      ["reservations.create", wish, { gang: { size: 1 } }],
      ["reservations.create", wish, { gang: { size: 2 }, devices: [line] }],
      ["reservations.create", wish, { binding: "node" }],
      ["reservations.create", wish, { binding: "node", node: { profileId: "p" } }],
      ["reservations.create", wish, { node: { profileId: "p" } }],
      ["reservations.create", wish, { devices: [line, line] }],
      ["reservations.quote", wish, { alternatives: [{ duration: "1ms" }] }],
    ] as const;
    for (const [code, rows] of [
      ["NOT_FOUND", HIDDEN],
      ["INVALID_INPUT", WRONG],
    ] as const)
      for (const [method, input, given] of rows) {
        const theirs = await api.outcome(method, { ...input(hidden), ...given });
        expect([method, given, theirs.code]).toEqual([method, given, code]);
        const none = await api.outcome(method, { ...input(nowhere), ...given });
        expect([method, none]).toEqual([method, theirs]);
      }
  });

  it("nor is a tenant: what is wrong by itself is said to whoever may ask, the rest to nobody", async () => {
    const at = { tenantId: "t-nobody", siteId: api.siteId, class: "provider" };
    const account = { providerAccountId: `pacct_${"0".repeat(26)}` };
    const paths = async (given: object) =>
      (await api.error("pools.create", { ...at, ...given })).issues?.map((issue) => issue.path);
    expect(await paths({})).toEqual([["providerAccountId"]]);
    expect(await paths({ ...account, agent: "bcd" })).toEqual([["agent"]]);
    expect(await paths({ ...account, class: "metal-host" })).toEqual([["providerAccountId"]]);
    expect(await paths({ ...account, sharing: "mps" })).toBeUndefined();
    expect(await paths({ ...account, policy: { horizon: "1ms" } })).toEqual([
      ["policy", "horizon"],
    ]);
    expect((await api.error("pools.create", { ...at, ...account })).code).toBe("NOT_FOUND");
  });
});
