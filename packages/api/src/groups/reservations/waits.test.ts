import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Output } from "@berth/contract";
import { BookingApi, HOUR, MINUTE } from "../test-kit.ts";

let api: BookingApi;
beforeAll(async () => {
  api = await BookingApi.open();
});
afterAll(() => api.close());

type Reservation = Output<"reservations.get">;
const named = ({ tenantId, id }: Reservation) => ({ tenantId, reservationId: id });

describe("a create that waits", () => {
  it("answers what it got, as the stored reservation, once room is made; its key finds it", async () => {
    const poolId = await api.pool(1, 2);
    const first = await api.book(poolId, 2);
    const waits = await api.waiting(poolId, 1, { tenantId: "t-b", leaseSeconds: 600 });
    await api.clock.advance(1_000);
    await api.release(first);
    const { code, output } = await waits.outcome;
    expect(code).toBe("OK");
    const got = output as Reservation;
    const now = await api.clock.now();
    expect(got).toMatchObject({
      tenantId: "t-b",
      state: "active",
      start: now,
      end: now + HOUR,
      leaseExpiresAt: now + 10 * MINUTE,
      version: 1,
    });
    expect(await api.call("reservations.get", named(got))).toEqual(got);
    expect(await api.call("reservations.create", waits.wish)).toEqual(got);
    expect(await api.events("t-b", poolId)).toContain("reservation.created");
    expect(await api.inLine(poolId)).toBe(0);
  });

  it("does not wait when it fits, when it is over quota, or for no time at all", async () => {
    const poolId = await api.pool(1, 2, { quota: 2 });
    const wait = { timeoutMs: 30_000 };
    const first = await api.book(poolId, 2, { wait });
    expect(first.state).toBe("active");
    const codes = await Promise.all([
      api.outcome("reservations.create", api.wish(poolId, 1, { wait })),
      api.outcome(
        "reservations.create",
        api.wish(poolId, 1, { tenantId: "t-b", wait: { timeoutMs: 0 } }),
      ),
    ]);
    expect(codes.map(({ code }) => code)).toEqual(["QUOTA_EXCEEDED", "NO_CAPACITY"]);
    expect(await api.inLine(poolId)).toBe(0);
  });

  it("is NO_CAPACITY at its deadline, with the reason and the time at which it would fit", async () => {
    const poolId = await api.pool(1, 1);
    const first = await api.book(poolId, 1);
    const waits = await api.waiting(poolId, 1, { tenantId: "t-b", wait: { timeoutMs: 5_000 } });
    await api.clock.advance(5_000);
    const { code, error } = await waits.outcome;
    expect(code).toBe("NO_CAPACITY");
    expect(error?.details).toMatchObject({ reason: { code: "BUSY" }, earliestStart: first.end });
    expect(await api.inLine(poolId)).toBe(0);
    expect(await api.used(poolId, "t-b")).toBe(0);
  });

  it("says at its deadline that the quota was in the way, when that is what kept it", async () => {
    const poolId = await api.pool(1, 2, { quota: 1 });
    const first = await api.book(poolId, 1, { tenantId: "t-b" });
    const second = await api.book(poolId, 1, { tenantId: "t-c" });
    const waits = await api.waiting(poolId, 1, { wait: { timeoutMs: 5_000 } });
    // Another booking of its tenant is in line first and takes the quota.
    await api.call("pools.offer", {
      tenantId: "t-own",
      poolId,
      toTenantId: "t-a",
      quota: { gpu: 0 },
    });
    await api.release(first);
    await api.release(second);
    await api.clock.advance(5_000);
    expect((await waits.outcome).code).toBe("QUOTA_EXCEEDED");
  });

  it("ends with its caller: nothing is booked then or later, and its key is free", async () => {
    const poolId = await api.pool(1, 1);
    const first = await api.book(poolId, 1);
    const gone = await api.waiting(poolId, 1, { tenantId: "t-b" });
    const next = await api.waiting(poolId, 1, { tenantId: "t-c" });
    gone.hangUp();
    expect((await gone.outcome).code).toBe("UNAVAILABLE");
    await api.release(first);
    expect(await next.outcome).toMatchObject({ code: "OK", output: { tenantId: "t-c" } });
    expect(await api.used(poolId, "t-b")).toBe(0);
    const { wait: _, ...again } = gone.wish;
    expect((await api.outcome("reservations.create", again)).code).toBe("NO_CAPACITY");
  });

  it("goes by the offer's priority first, then by arrival", async () => {
    const poolId = await api.pool(1, 1);
    await api.call("pools.offer", {
      tenantId: "t-own",
      poolId,
      toTenantId: "t-c",
      quota: {},
      priority: 5,
    });
    let holder = await api.book(poolId, 1);
    const early = await api.waiting(poolId, 1, { tenantId: "t-b" });
    await api.clock.advance(10);
    const late = await api.waiting(poolId, 1, { tenantId: "t-a" });
    await api.clock.advance(10);
    const preferred = await api.waiting(poolId, 1, { tenantId: "t-c" });
    const order: string[] = [];
    for (const { outcome } of [preferred, early, late]) {
      await api.release(holder);
      holder = (await outcome).output as Reservation;
      order.push(holder.tenantId);
    }
    expect(order).toEqual(["t-c", "t-b", "t-a"]);
  });

  it("is told at once when its pool is archived or hidden from it", async () => {
    const poolId = await api.pool(1, 1);
    await api.book(poolId, 1, { tenantId: "t-own" });
    const guest = await api.waiting(poolId, 1);
    const hidden = await api.waiting(poolId, 1, { tenantId: "t-b" });
    const owner = await api.waiting(poolId, 1, { tenantId: "t-own" });
    await api.call("pools.unoffer", { tenantId: "t-own", poolId, toTenantId: "t-b" });
    expect((await hidden.outcome).code).toBe("NOT_FOUND");
    await api.call("pools.archive", { tenantId: "t-own", poolId });
    expect((await guest.outcome).code).toBe("NOT_FOUND");
    expect((await owner.outcome).code).toBe("INVALID_STATE");
  });

  it("is served by what a node's coming, an end or a lapse frees, too", async () => {
    const poolId = await api.pool(1, 3);
    const ends = await api.book(poolId, 1, { duration: "10m" });
    const lapses = await api.book(poolId, 1, { leaseSeconds: 300 });
    await api.book(poolId, 1);
    const lapse = lapses.leaseExpiresAt ?? 0;
    await api.clock.set(lapse - 1_000);
    const first = await api.waiting(poolId, 1);
    await api.clock.set(lapse);
    expect(await first.outcome).toMatchObject({ code: "OK", output: { start: lapse } });
    const third = await api.waiting(poolId, 1);
    await api.call("fleet.putNodes", {
      siteId: api.siteId,
      poolId,
      nodes: [api.report(`${poolId}-9`, 1)],
    });
    expect((await third.outcome).code).toBe("OK");
    await api.clock.set(ends.end - 1_000);
    const fourth = await api.waiting(poolId, 1);
    await api.clock.set(ends.end);
    expect(await fourth.outcome).toMatchObject({ code: "OK", output: { start: ends.end } });
  });

  it("with the key of another request that was booked meanwhile is a CONFLICT", async () => {
    const [poolId, elsewhere] = [await api.pool(1, 1), await api.pool(1, 1)];
    const first = await api.book(poolId, 1);
    const waits = await api.waiting(poolId, 1, { idempotencyKey: "one-key" });
    await api.book(elsewhere, 1, { idempotencyKey: "one-key" });
    await api.release(first);
    expect(await waits.outcome).toMatchObject({
      code: "CONFLICT",
      error: { details: { kind: "key" } },
    });
    expect((await api.gpuRow(poolId)).allocated).toBe(0);
  });

  it("twice with one key is one reservation, answered to both", async () => {
    const poolId = await api.pool(1, 2);
    const first = await api.book(poolId, 2);
    const one = await api.waiting(poolId, 1, { idempotencyKey: "twins" });
    const two = await api.waiting(poolId, 1, { idempotencyKey: "twins" });
    await api.release(first);
    const [a, b] = [await one.outcome, await two.outcome];
    expect(a.code).toBe("OK");
    expect(b.output).toEqual(a.output);
    expect(await api.used(poolId, "t-a")).toBe(1);
  });
});
