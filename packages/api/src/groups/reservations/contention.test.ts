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
  it("is answered as a pool that is not there, by every method, valid input or not", async () => {
    const { id: hidden } = await api.call("pools.create", {
      ...OWNER,
      siteId: api.siteId,
      class: "metal-host",
    });
    const nowhere = `pool_${"0".repeat(26)}`;
    const wish = (poolId: string) => api.wish(poolId, 1, { idempotencyKey: "one" });
    const ref = (poolId: string) => ({ tenantId: "t-c", poolId });
    for (const [method, input] of [
      ["pools.get", ref],
      ["pools.capacity", ref],
      ["pools.archive", ref],
      ["capacity.byPool", ref],
      ["capacity.timeline", ref],
      ["capacity.timeline", (id: string) => ({ ...ref(id), stepMinutes: 1 })],
      ["capacity.timeline", (id: string) => ({ ...ref(id), from: 9, to: 3 })],
      ["pools.offer", (id: string) => ({ ...ref(id), toTenantId: "t-none", quota: {} })],
      ["pools.unoffer", (id: string) => ({ ...ref(id), toTenantId: "t-own" })],
      ["pools.update", (id: string) => ({ ...ref(id), policy: { horizon: "0h" } })],
      ["capacity.preview", wish],
      ["reservations.create", wish],
      ["reservations.quote", wish],
      ["reservations.create", (id: string) => ({ ...wish(id), gang: { size: 2 } })],
      ["reservations.create", (id: string) => ({ ...wish(id), start: 0 })],
    ] as const) {
      const theirs = await api.outcome(method, input(hidden));
      expect([method, theirs]).toEqual([method, await api.outcome(method, input(nowhere))]);
      expect(theirs.output).toBeNull();
    }
  });
});
