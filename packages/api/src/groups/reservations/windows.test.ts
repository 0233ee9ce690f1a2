import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Output } from "@berth/contract";
import { BookingApi, HOUR, MINUTE } from "../test-kit.ts";

let api: BookingApi;
beforeAll(async () => {
  api = await BookingApi.open();
});
afterAll(() => api.close());

type Reservation = Output<"reservations.get">;
const TIME_MAX = 2 ** 47;
const named = ({ tenantId, id }: Reservation) => ({ tenantId, reservationId: id });
const unitsOf = (r: Reservation) =>
  r.members?.flatMap((m) => m.atoms.map((atom) => atom.unitId)) ?? [];

/** The codes that preview and create answer; one that preview says fits is booked and let go again. */
async function bothCodes(wish: ReturnType<BookingApi["wish"]>): Promise<[string, string]> {
  const preview = await api.outcome("capacity.preview", wish);
  const seen = preview.output as Output<"capacity.preview"> | null;
  const made = await api.outcome("reservations.create", wish);
  if (made.code === "OK") await api.release(made.output as Reservation);
  return [seen && !seen.fits ? "NO_CAPACITY" : preview.code, made.code];
}

describe("windows on one GPU", () => {
  it("conflict when they share an instant, and only then", async () => {
    const poolId = await api.pool(1, 1);
    const T = (await api.clock.now()) + 5 * HOUR;
    const base = await api.book(poolId, 1, { start: T });
    const at = (start: number, duration: number) => ({ start: T + start, duration });
    const overlapping = [
      at(0, HOUR),
      at(10 * MINUTE, 10 * MINUTE),
      at(-HOUR, 3 * HOUR),
      at(-HOUR, HOUR + 1),
      at(HOUR - 1, HOUR),
    ];
    const touching = [at(-HOUR, HOUR), at(HOUR, HOUR)];
    for (const window of overlapping)
      expect(await bothCodes(api.wish(poolId, 1, window))).toEqual(["NO_CAPACITY", "NO_CAPACITY"]);
    for (const window of touching)
      expect(await bothCodes(api.wish(poolId, 1, window))).toEqual(["OK", "OK"]);
    await api.release(base);
    for (const window of overlapping)
      expect(await bothCodes(api.wish(poolId, 1, window))).toEqual(["OK", "OK"]);
    expect(await api.gpuRow(poolId)).toMatchObject({ allocated: 0, reserved: 0, available: 1 });
  });

  it("far in the future are reserved, not allocated, and leave the GPU free now", async () => {
    const poolId = await api.pool(1, 1);
    const at = await api.clock.now();
    for (const days of [30, 60]) await api.book(poolId, 1, { start: at + days * 24 * HOUR });
    expect(await api.gpuRow(poolId)).toMatchObject({ allocated: 0, reserved: 1 });
    expect((await api.book(poolId, 1)).state).toBe("active");
  });
});

describe("preview and create agree on what cannot be asked", () => {
  it.each([
    { duration: 0 },
    { duration: -1 },
    { duration: "" },
    { duration: "0h" },
    { duration: "-1h" },
    { duration: "1 fortnight" },
    { duration: "NaN" },
    { duration: "Infinity" },
    { duration: 1e308 },
    { duration: "P1M" },
    { start: TIME_MAX + 1 },
    { start: -1 },
    { start: 1.5 },
    { start: TIME_MAX },
    { start: TIME_MAX - 1_000, duration: "1h" },
    { leaseSeconds: 29 },
    { leaseSeconds: 86_401 },
    { devices: [] },
    ...[0, -1, 1.5, "2", 65].map((count) => ({ devices: [{ class: "gpu", count }] })),
    { devices: Array.from({ length: 9 }, () => ({ class: "gpu", count: 1 })) },
  ])("%o", async (given) => {
    const poolId = await api.pool(1, 1);
    const wish = api.wish(poolId, 1, given);
    expect(await bothCodes(wish)).toEqual(["INVALID_INPUT", "INVALID_INPUT"]);
    expect(await api.used(poolId, "t-a")).toBe(0);
  });

  it.each([30, 86_400])("and on a lease of %d seconds, which can", async (leaseSeconds) => {
    const poolId = await api.pool(1, 1);
    expect(await bothCodes(api.wish(poolId, 1, { leaseSeconds }))).toEqual(["OK", "OK"]);
  });
});

describe("several lines of one request", () => {
  const lines = (...counts: number[]) => ({
    devices: counts.map((count) => ({ class: "gpu", count })),
  });

  it("are summed, for the room and for the quota", async () => {
    const poolId = await api.pool(1, 8);
    expect(await bothCodes(api.wish(poolId, 0, lines(5, 5)))).toEqual([
      "NO_CAPACITY",
      "NO_CAPACITY",
    ]);
    const made = await api.book(poolId, 0, lines(4, 4));
    expect(new Set(unitsOf(made)).size).toBe(8);
    await api.release(made);
    expect(new Set(unitsOf(await api.book(poolId, 0, lines(1, 1, 1, 1, 1, 1, 1, 1)))).size).toBe(8);
  });

  it("pass a quota together that each keeps alone, and use none of it", async () => {
    const poolId = await api.pool(1, 8, { quota: 6 });
    const refusal = await api.error("reservations.create", api.wish(poolId, 0, lines(4, 4)));
    expect(refusal).toMatchObject({ code: "QUOTA_EXCEEDED", details: { max: 6, requested: 8 } });
    expect(await api.used(poolId, "t-a")).toBe(0);
  });
});

describe("a lease that has lapsed", () => {
  it("cannot be brought back, before or after another has taken the GPU", async () => {
    const poolId = await api.pool(1, 1);
    const mine = await api.book(poolId, 1, { leaseSeconds: 30 });
    await api.clock.advance(30_000);
    expect((await api.error("reservations.renew", named(mine))).code).toBe("INVALID_STATE");
    expect((await api.call("reservations.get", named(mine))).state).toBe("expired");
    const theirs = await api.book(poolId, 1, { tenantId: "t-b" });
    expect(unitsOf(theirs)).toEqual(unitsOf(mine));
    expect((await api.error("reservations.renew", named(mine))).code).toBe("INVALID_STATE");
    expect(await api.call("reservations.get", named(theirs))).toEqual(theirs);
  });

  it("is not brought about by an extension that is refused", async () => {
    const poolId = await api.pool(1, 1);
    const mine = await api.book(poolId, 1, { leaseSeconds: 600 });
    for (const end of [mine.end - 1, TIME_MAX, TIME_MAX + 1, 1.5])
      expect((await api.error("reservations.extend", { ...named(mine), end })).code).toBe(
        "INVALID_INPUT",
      );
    expect(await api.call("reservations.get", named(mine))).toEqual(mine);
  });
});

describe("a booked GPU that fails", () => {
  it("is taken from what is available once, and the healthy one stays bookable", async () => {
    const poolId = await api.pool(1, 2);
    const mine = await api.book(poolId, 1);
    const [unitId] = unitsOf(mine);
    const setHealth = (healthy: boolean) => api.call("fleet.setUnitHealth", { unitId, healthy });
    await setHealth(false);
    expect(await api.gpuRow(poolId)).toMatchObject({ total: 2, unhealthy: 1, available: 1 });
    const theirs = await api.book(poolId, 1, { tenantId: "t-b" });
    expect(unitsOf(theirs)).not.toContain(unitId);
    const third = api.wish(poolId, 1, { tenantId: "t-c" });
    expect((await api.error("reservations.create", third)).code).toBe("NO_CAPACITY");
    await setHealth(true);
    expect((await api.error("reservations.create", third)).code).toBe("NO_CAPACITY");
    await setHealth(false);
    await api.release(mine);
    expect((await api.error("reservations.create", third)).code).toBe("NO_CAPACITY");
    await setHealth(true);
    expect(unitsOf(await api.call("reservations.create", third))).toEqual([unitId]);
    await api.capacityAgrees(poolId);
  });
});
