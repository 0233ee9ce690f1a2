import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Output } from "@berth/contract";
import { BookingApi, HOUR, MINUTE } from "../test-kit.ts";

let api: BookingApi;
beforeAll(async () => {
  api = await BookingApi.open();
});
afterAll(() => api.close());

type Reservation = Output<"reservations.get">;
const OWNER = { tenantId: "t-own" } as const;
const named = ({ tenantId, id }: Reservation) => ({ tenantId, reservationId: id });
const unitsOf = (r: Reservation) => r.members?.flatMap((m) => m.atoms.map((atom) => atom.unitId));
const now = () => api.clock.now();

describe("a booking from create to release", () => {
  it("tells a launcher its hosts and devices, is renewed, extended, released, each told in order", async () => {
    const poolId = await api.pool(1, 4);
    const at = await now();
    const made = await api.book(poolId, 2, {
      leaseSeconds: 600,
      projectId: `prj_${"0".repeat(26)}`,
      resources: { vcpu: 8 },
    });
    expect(made).toMatchObject({
      state: "active",
      start: at,
      end: at + HOUR,
      leaseExpiresAt: at + 10 * MINUTE,
      binding: "hold",
      spot: false,
      gang: null,
      node: null,
      preemption: null,
      degraded: null,
      devices: [{ class: "gpu", count: 2 }],
      resources: { vcpu: 8, memoryGiB: 0, hugepages1Gi: 0 },
      version: 1,
    });
    const [member] = made.members ?? [];
    expect(member).toMatchObject({ index: 0, address: "0.example" });
    for (const atom of member?.atoms ?? [])
      expect(atom).toMatchObject({ class: "gpu", model: "H100", gpuUuid: expect.any(String) });
    expect(await api.call("reservations.get", named(made))).toEqual(made);

    await api.clock.advance(5 * MINUTE);
    const renewed = await api.call("reservations.renew", { ...named(made), version: 1 });
    expect(renewed).toEqual({
      ...made,
      leaseExpiresAt: at + 15 * MINUTE,
      version: 2,
      updatedAt: at + 5 * MINUTE,
    });
    const extension = { ...named(made), end: at + 2 * HOUR };
    const dry = await api.call("reservations.extend", { ...extension, dryRun: true });
    expect(await api.call("reservations.get", named(made))).toEqual(renewed);
    const extended = await api.call("reservations.extend", extension);
    expect(extended).toEqual(dry);
    expect(extended).toMatchObject({ end: at + 2 * HOUR, members: made.members, version: 3 });

    const stale = await api.error("reservations.release", { ...named(made), version: 1 });
    expect(stale).toMatchObject({ code: "CONFLICT", details: { kind: "version" } });
    const released = await api.release(made);
    expect(released).toMatchObject({
      state: "released",
      endedAt: at + 5 * MINUTE,
      members: made.members,
      version: 4,
    });
    expect(await api.release(made)).toEqual(released);
    expect(await api.call("reservations.get", named(made))).toEqual(released);
    expect((await api.events("t-a", poolId)).filter((type) => type.startsWith("res"))).toEqual([
      "reservation.created",
      "reservation.renewed",
      "reservation.extended",
      "reservation.released",
    ]);
    expect((await api.events("t-own", poolId)).filter((type) => type.startsWith("res"))).toEqual(
      [],
    );
    expect(await api.used(poolId, "t-a")).toBe(0);
    expect(await api.gpuRow(poolId)).toMatchObject({ allocated: 0, reserved: 0, available: 4 });
  });

  it("is over when its time or its lease is, whether or not a worker has run", async () => {
    const poolId = await api.pool(1, 2);
    const at = await now();
    const timed = await api.book(poolId, 1, { duration: "10s" });
    const leased = await api.book(poolId, 1, { leaseSeconds: 30 });
    await api.clock.advance(30_000);
    expect(await api.call("reservations.get", named(timed))).toMatchObject({
      state: "completed",
      endedAt: at + 10_000,
    });
    expect(await api.call("reservations.get", named(leased))).toMatchObject({
      state: "expired",
      endedAt: at + 30_000,
    });
    expect((await api.error("reservations.renew", named(leased))).code).toBe("INVALID_STATE");
    expect((await api.book(poolId, 2)).state).toBe("active");
  });

  it("still shows what it held when node and devices have gone", async () => {
    const poolId = await api.pool(1, 2);
    const made = await api.book(poolId, 2);
    const released = await api.release(made);
    await api.call("fleet.removeNode", { nodeId: made.members?.[0]?.nodeId });
    expect(await api.call("reservations.get", named(made))).toEqual(released);
    const page = await api.call("reservations.list", {
      tenantId: "t-a",
      poolId,
      include: ["members"],
    });
    expect(page.reservations).toEqual([released]);
  });

  it("is another tenant's business for nobody, and the pool's owner can terminate it", async () => {
    const poolId = await api.pool(1, 1);
    const made = await api.book(poolId, 1, { leaseSeconds: 600 });
    const theirs = { tenantId: "t-b", reservationId: made.id };
    const nothing = { tenantId: "t-b", reservationId: `rsv_${"z".repeat(26)}` };
    for (const [method, rest] of [
      ["reservations.get", {}],
      ["reservations.renew", {}],
      ["reservations.release", {}],
      ["reservations.extend", { end: made.end + HOUR }],
    ] as const) {
      const error = await api.error(method, { ...theirs, ...rest });
      expect(error.code).toBe("NOT_FOUND");
      expect(await api.error(method, { ...nothing, ...rest })).toEqual(error);
    }
    const ended = await api.call("reservations.terminate", {
      ...OWNER,
      reservationId: made.id,
      reason: "the rack moves",
    });
    expect(ended).toMatchObject({ state: "terminated", endReason: "the rack moves" });
    expect(ended.members?.[0]?.address).toBeNull();
    expect(await api.call("reservations.get", named(made))).toMatchObject({
      state: "terminated",
      endReason: "the rack moves",
      members: made.members,
    });
  });
});

describe("extending into somebody else's booking", () => {
  it("is refused up to where it begins, and works once that is gone", async () => {
    const poolId = await api.pool(1, 1);
    const at = await now();
    const mine = await api.book(poolId, 1);
    const theirs = await api.book(poolId, 1, { tenantId: "t-b", start: at + HOUR });
    const longer = { ...named(mine), end: at + 90 * MINUTE };
    const refusal = await api.error("reservations.extend", longer);
    expect(refusal).toMatchObject({ code: "NO_CAPACITY", details: { latestEnd: at + HOUR } });
    expect(await api.call("reservations.get", named(mine))).toEqual(mine);
    expect(
      await api.call("reservations.get", { tenantId: "t-b", reservationId: theirs.id }),
    ).toEqual(theirs);
    const line = await api.call("capacity.timeline", { ...OWNER, poolId });
    expect(Math.max(...line.buckets.map((bucket) => bucket.booked))).toBe(1);
    const same = { ...named(mine), end: at + HOUR };
    expect(await api.call("reservations.extend", same)).toEqual(mine);
    await api.release(theirs);
    expect((await api.call("reservations.extend", longer)).end).toBe(at + 90 * MINUTE);
    await api.capacityAgrees(poolId);
  });
});

describe("an idempotency key", () => {
  it("answers the stored reservation for the same request in other words, whatever became of it", async () => {
    const poolId = await api.pool(1, 4);
    const wish = api.wish(poolId, 1);
    const made = await api.call("reservations.create", wish);
    const reworded = {
      idempotencyKey: wish["idempotencyKey"],
      binding: "hold",
      spot: false,
      topology: "any",
      duration: "PT60M",
      devices: [{ count: 1, class: "gpu", topology: "any" }],
      poolId,
      tenantId: "t-a",
    };
    expect(await api.call("reservations.create", reworded)).toEqual(made);
    const released = await api.release(made);
    expect(await api.call("reservations.create", wish)).toEqual(released);
    expect(await api.used(poolId, "t-a")).toBe(0);
  });

  it("is CONFLICT for any other request, and nothing is booked", async () => {
    const poolId = await api.pool(1, 4);
    const other = await api.pool(1, 4);
    const wish = api.wish(poolId, 1);
    await api.call("reservations.create", wish);
    for (const changed of [
      { devices: [{ class: "gpu", count: 2 }] },
      { start: (await now()) + HOUR },
      { duration: "2h" },
      { leaseSeconds: 60 },
      { topology: "nvlink-all" },
      { spot: true },
      { gang: { size: 2 } },
      { poolId: other },
    ])
      expect(await api.error("reservations.create", { ...wish, ...changed })).toMatchObject({
        code: "CONFLICT",
        details: { kind: "key", ids: null, plan: null },
      });
    expect((await api.gpuRow(poolId)).allocated).toBe(1);
    expect((await api.gpuRow(other)).allocated).toBe(0);
  });

  it("used by twenty calls at once makes one reservation, on the last free GPU too", async () => {
    const poolId = await api.pool(1, 1, { quota: 1 });
    const wish = api.wish(poolId, 1);
    const made = await Promise.all(
      Array.from({ length: 20 }, () => api.call("reservations.create", wish)),
    );
    expect(new Set(made.map((r) => r.id)).size).toBe(1);
    expect(await api.used(poolId, "t-a")).toBe(1);
    expect((await api.gpuRow(poolId)).allocated).toBe(1);
  });

  it("is not burnt by a call that failed, and that call leaves nothing behind", async () => {
    const poolId = await api.pool(1, 1);
    const theirs = await api.book(poolId, 1, { tenantId: "t-b" });
    const wish = api.wish(poolId, 1);
    const nothingYet = async () => {
      const { reservations } = await api.call("reservations.list", { tenantId: "t-a", poolId });
      expect(reservations).toEqual([]);
    };
    expect((await api.error("reservations.create", wish)).code).toBe("NO_CAPACITY");
    await nothingYet();
    expect(await api.used(poolId, "t-a")).toBe(0);
    await api.release(theirs);

    const offer = (gpu: number) =>
      api.call("pools.offer", { ...OWNER, poolId, toTenantId: "t-a", quota: { gpu } });
    await offer(0);
    expect((await api.error("reservations.create", wish)).code).toBe("QUOTA_EXCEEDED");
    await api.call("pools.unoffer", { ...OWNER, poolId, toTenantId: "t-a" });
    expect((await api.error("reservations.create", wish)).code).toBe("NOT_FOUND");
    await offer(1);
    await nothingYet();
    const made = await api.call("reservations.create", wish);
    const { reservations } = await api.call("reservations.list", { tenantId: "t-a", poolId });
    expect(reservations.map((r) => r.id)).toEqual([made.id]);
    await api.capacityAgrees(poolId);
  });
});

describe("peak, not sum", () => {
  it("lets bookings that do not overlap share GPUs, and asks every instant of a long one", async () => {
    const poolId = await api.pool(1, 10);
    const at = (await now()) + 24 * HOUR;
    const disjoint = [];
    for (const hour of [0, 1, 2])
      disjoint.push(await api.book(poolId, 7, { start: at + hour * HOUR }));
    const long = { start: at, duration: "3h" };
    const three = await api.book(poolId, 3, long);
    expect(unitsOf(three)).toHaveLength(3);
    for (const other of disjoint)
      expect(unitsOf(other)?.filter((id) => unitsOf(three)?.includes(id))).toEqual([]);
    expect((await api.error("reservations.create", api.wish(poolId, 4, long))).code).toBe(
      "NO_CAPACITY",
    );
    expect(await api.used(poolId, "t-a")).toBe(10);

    await api.book(poolId, 10, { duration: "10m" });
    expect((await api.gpuRow(poolId)).available).toBe(0);
    const between = { start: (await now()) + 15 * MINUTE, duration: "20h" };
    expect((await api.book(poolId, 3, between)).state).toBe("scheduled");
    await api.capacityAgrees(poolId);
  });
});

describe("the quota", () => {
  it("lets exactly as many in as it grants, when all ask at once", async () => {
    const poolId = await api.pool(4, 8, { quota: 5 });
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => api.outcome("reservations.create", api.wish(poolId, 1))),
    );
    const codes = outcomes.map((outcome) => outcome.code);
    expect(codes.filter((code) => code === "OK")).toHaveLength(5);
    expect(codes.filter((code) => code === "QUOTA_EXCEEDED")).toHaveLength(15);
    expect(await api.used(poolId, "t-a")).toBe(5);
    await api.capacityAgrees(poolId);
  });
});

describe("reservations.list", () => {
  it("pages newest first without gaps or repeats, and is bound to tenant and filter", async () => {
    await api.call("fleet.putTenant", { tenantId: "t-list" });
    const poolId = await api.pool(1, 16);
    await api.call("pools.offer", { ...OWNER, poolId, toTenantId: "t-list", quota: { gpu: 99 } });
    const made: Reservation[] = [];
    for (let i = 0; i < 7; i += 1) {
      made.unshift(await api.book(poolId, 1, { tenantId: "t-list" }));
      // Two in the same millisecond, then time goes on.
      if (i % 2 === 1) await api.clock.advance(1);
    }
    const ask = { tenantId: "t-list", limit: 3 };
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Output<"reservations.list"> = await api.call("reservations.list", {
        ...ask,
        ...(cursor === null ? {} : { cursor }),
      });
      expect(page.reservations.every((r) => r.members === null)).toBe(true);
      ids.push(...page.reservations.map((r) => r.id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect([...ids].sort()).toEqual(made.map((r) => r.id).sort());
    const createdAt = new Map(made.map((r) => [r.id, r.createdAt]));
    expect(ids.map((id) => createdAt.get(id as Reservation["id"]))).toEqual(
      made.map((r) => r.createdAt),
    );
    const { nextCursor } = await api.call("reservations.list", ask);
    for (const other of [{ tenantId: "t-a" }, { state: ["active"] }, { cursor: "bm8" }]) {
      const bad = { ...ask, cursor: nextCursor, ...other };
      expect(await api.error("reservations.list", bad)).toMatchObject({
        code: "INVALID_INPUT",
        issues: [{ path: ["cursor"] }],
      });
    }
    const whole = await api.call("reservations.list", { ...ask, limit: 200, include: ["members"] });
    expect(whole.nextCursor).toBeNull();
    for (const row of whole.reservations) expect(made).toContainEqual(row);
  });

  it("filters by the state that holds now, by pool, project and overlap", async () => {
    const poolId = await api.pool(1, 4);
    const at = await now();
    const projectId = `prj_${"1".repeat(26)}`;
    const short = await api.book(poolId, 1, { duration: "10s", projectId });
    const later = await api.book(poolId, 1, { start: at + HOUR });
    const list = async (given: object) => {
      const { reservations } = await api.call("reservations.list", {
        tenantId: "t-a",
        poolId,
        ...given,
      });
      return reservations.map((r) => r.id);
    };
    expect(await list({ state: ["active"] })).toEqual([short.id]);
    await api.clock.advance(10_000);
    expect(await list({ state: ["active"] })).toEqual([]);
    expect(await list({ state: ["completed"] })).toEqual([short.id]);
    expect(await list({ state: ["scheduled", "completed"] })).toHaveLength(2);
    expect(await list({ projectId })).toEqual([short.id]);
    expect(await list({ from: at + 10_000 })).toEqual([later.id]);
    expect(await list({ from: at + 9_999, to: at + HOUR })).toEqual([short.id]);
    expect(await list({ from: at, to: at + HOUR + 1 })).toHaveLength(2);
  });

  it("asks the database as often for many reservations as for one", async () => {
    const poolId = await api.pool(1, 8);
    const ask = { tenantId: "t-a", poolId, include: ["members"] };
    await api.book(poolId, 1);
    const before = await api.statements("reservations.list", ask);
    expect(before).toBeGreaterThan(3);
    for (let more = 0; more < 4; more += 1) await api.book(poolId, 1);
    expect(await api.statements("reservations.list", ask)).toBe(before);
  });
});

describe("a start in the past", () => {
  it("is now within a minute, and INVALID_INPUT beyond, with no quota left behind", async () => {
    const poolId = await api.pool(1, 4);
    const at = await now();
    expect((await api.book(poolId, 1, { start: at - MINUTE })).start).toBe(at);
    const late = await api.error(
      "reservations.create",
      api.wish(poolId, 1, { start: at - MINUTE - 1 }),
    );
    expect(late).toMatchObject({ code: "INVALID_INPUT", issues: [{ path: ["start"] }] });
    expect(await api.used(poolId, "t-a")).toBe(1);
  });
});
