/** Offers, quotas and updates that cross each other: what is taken back is gone, what is changed holds. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";
import {
  type Asker,
  NOW,
  asker,
  bookGpus,
  gpuRequest,
  outcome,
  range,
  refusal,
  release,
} from "./asking.ts";
import { expectConsistent, expectEmptyAfterRelease } from "./invariants.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
});
afterAll(() => server.stop());

const offer = ({ owner, poolId }: Fleet, toTenantId: string, gpu: number) =>
  server.admin.pools.offer({ tenantId: owner, poolId, toTenantId, quota: { gpu } });
const unoffer = ({ owner, poolId }: Fleet, toTenantId: string) =>
  server.admin.pools.unoffer({ tenantId: owner, poolId, toTenantId });
const ownersView = ({ owner, poolId }: Fleet) =>
  server.admin.pools.get({ tenantId: owner, poolId });

async function eventTypes({ owner, poolId }: Fleet, tenantId = owner): Promise<string[]> {
  await server.database.feedCaughtUp();
  const { events } = await server.admin.events.list({ tenantId, poolId, limit: 200 });
  return events.map(({ type }) => type).filter((type) => type.startsWith("pool."));
}

describe("a quota below what is in use", () => {
  it("is raised to it: giving back is always allowed, taking more is not", async () => {
    const fleet = await server.fleet(pool(1, 8, { offers: { "t-a": { gpu: 4 } } }));
    const a = await asker(server, "t-a", fleet);
    const held = await Promise.all(range(3).map(() => bookGpus(a, 1)));
    const shrunk = await offer(fleet, "t-a", 1);
    expect(shrunk.quota).toEqual([{ resource: "gpu", max: 3, used: 3, remaining: null }]);
    expect(await refusal(bookGpus(a, 1))).toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: { resource: "gpu", max: 3, peak: 3, requested: 1 },
    });
    await expectConsistent(server, fleet);
    const [first] = held;
    if (!first) throw new Error("three were booked");
    expect((await release(a, first)).state).toBe("released");
    expect((await bookGpus(a, 1)).state).toBe("active");
    expect((await refusal(bookGpus(a, 1))).code).toBe("QUOTA_EXCEEDED");
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("a withdrawn offer", () => {
  it("is gone at once for its tenant, whose bookings run on, and for nobody else", async () => {
    const fleet = await server.fleet(
      pool(1, 8, { offers: { "t-a": { gpu: 4 }, "t-b": { gpu: 4 } } }),
    );
    const { owner, poolId } = fleet;
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const mine = await bookGpus(a, 2, { leaseSeconds: 600 });
    const leaving = await bookGpus(a, 1);

    expect(await unoffer(fleet, "t-a")).toEqual({ removed: true });
    await expectUnseen(a);
    expect(await unoffer(fleet, "t-a")).toEqual({ removed: false });
    expect(await eventTypes(fleet)).toEqual([
      "pool.created",
      "pool.offered",
      "pool.offered",
      "pool.unoffered",
    ]);

    const named = { tenantId: "t-a", reservationId: mine.id };
    expect(await a.berth.reservations.get(named)).toEqual(mine);
    const { reservations } = await a.berth.reservations.list({ tenantId: "t-a", poolId });
    expect(reservations.map(({ state }) => state)).toEqual(["active", "active"]);
    await server.clock?.advance(60_000);
    const renewed = await a.berth.reservations.renew(named);
    expect(renewed.leaseExpiresAt).toBe(NOW + 660_000);
    const extend = a.berth.reservations.extend({ ...named, end: mine.end + 1 });
    expect((await refusal(extend)).code).toBe("INVALID_STATE");
    expect((await release(a, leaving)).state).toBe("released");

    expect((await bookGpus(b, 4)).state).toBe("active");
    expect((await server.admin.pools.get({ tenantId: owner, poolId })).offers).toEqual([
      expect.objectContaining({ tenantId: "t-b" }),
    ]);
    await expectConsistent(server, fleet);

    const again = await offer(fleet, "t-a", 3);
    expect(again.quota).toEqual([{ resource: "gpu", max: 3, used: 2, remaining: null }]);
    expect((await a.berth.pools.get({ tenantId: "t-a", poolId })).id).toBe(poolId);
    expect((await bookGpus(a, 1)).state).toBe("active");
    expect((await refusal(bookGpus(a, 1))).code).toBe("QUOTA_EXCEEDED");
    await expectEmptyAfterRelease(server, fleet);
  });

  it("is never the owner's", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const refused = await refusal(unoffer(fleet, fleet.owner));
    expect(refused).toMatchObject({ code: "INVALID_INPUT", field: "toTenantId" });
    await expectEmptyAfterRelease(server, fleet);
  });

  it("races with creates and loses none of them: booked before it, or not at all", async () => {
    const fleet = await server.fleet(pool(4, 8));
    const a = await asker(server, "t-a", fleet);
    const creates = range(20).map(() => bookGpus(a, 1));
    const removed = unoffer(fleet, "t-a");
    const codes = new Set(await Promise.all(creates.map(outcome)));
    expect(await removed).toEqual({ removed: true });
    for (const code of codes) expect(["OK", "NOT_FOUND"]).toContain(code);
    await expectUnseen(a);
    await expectEmptyAfterRelease(server, fleet);
  });
});

/** Every way in is shut, on the very next call. */
async function expectUnseen({ berth, tenantId, poolId }: Asker): Promise<void> {
  const at = { tenantId, poolId };
  const calls = {
    get: () => berth.pools.get(at),
    capacity: () => berth.pools.capacity(at),
    byPool: () => berth.capacity.byPool(at),
    timeline: () => berth.capacity.timeline(at),
    preview: () => berth.capacity.preview(gpuRequest(at, 1)),
    quote: () => berth.reservations.quote(gpuRequest(at, 1)),
    create: () => berth.reservations.create(gpuRequest(at, 1)),
  };
  for (const [name, call] of Object.entries(calls)) {
    expect([name, await outcome(call())]).toEqual([name, "NOT_FOUND"]);
  }
  const { pools } = await berth.pools.list({ tenantId });
  expect(pools.map(({ id }) => id)).not.toContain(poolId);
  const summary = await berth.capacity.summary({ tenantId });
  expect(summary.pools.map((seen) => seen.poolId)).not.toContain(poolId);
}

describe("updates of a pool", () => {
  const update = ({ owner, poolId }: Fleet, change: object) =>
    server.admin.pools.update({ tenantId: owner, poolId, ...change });

  it("of different fields at once both hold", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const { version } = await ownersView(fleet);
    const policy = { prewarmImages: ["registry/image:1"] };
    const answers = await Promise.all([
      update(fleet, { gpuModel: "m2" }),
      update(fleet, { policy }),
    ]);
    expect(new Set(answers.map((answer) => answer.version))).toEqual(
      new Set([version + 1, version + 2]),
    );
    expect(await ownersView(fleet)).toMatchObject({ gpuModel: "m2", policy, version: version + 2 });
    await expectEmptyAfterRelease(server, fleet);
  });

  it("twenty at once are twenty versions and twenty events", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const { owner, poolId } = fleet;
    const { version } = await ownersView(fleet);
    const answers = await Promise.all(
      range(20).map((i) =>
        i % 2
          ? update(fleet, { gpuModel: `m${i}` })
          : update(fleet, { policy: { label: `l${i}` } }),
      ),
    );
    const versions = answers.map((answer) => answer.version).toSorted((x, y) => x - y);
    const expected = range(20).map((i) => version + 1 + i);
    expect(versions).toEqual(expected);
    const last = answers.find((answer) => answer.version === version + 20);
    expect(await ownersView(fleet)).toEqual(last);
    await server.database.feedCaughtUp();
    const { events } = await server.admin.events.list({ tenantId: owner, poolId, limit: 200 });
    const updated = events.flatMap((event) => (event.type === "pool.updated" ? [event] : []));
    expect(updated.map(({ data }) => data.version)).toEqual(expected);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("replace the policy as a whole, and nothing else", async () => {
    const fleet = await server.fleet(pool(1, 1));
    await update(fleet, { policy: { label: "one", prewarmImages: ["a"] } });
    const second = await update(fleet, { policy: { kernelModules: ["nvidia-peermem"] } });
    expect(second.policy).toEqual({ kernelModules: ["nvidia-peermem"] });
    expect(second).toMatchObject({ label: null, gpuModel: "H100" });
    await expectEmptyAfterRelease(server, fleet);
  });

  it("of nothing are INVALID_INPUT and make no version", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const before = await ownersView(fleet);
    expect((await refusal(update(fleet, {}))).code).toBe("INVALID_INPUT");
    expect(await ownersView(fleet)).toEqual(before);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("to a single tenant never pass a second offer, whichever comes first", async () => {
    const fleet = await server.fleet(pool(1, 1, { offers: { "t-a": { gpu: 1 } } }));
    const single = () => update(fleet, { policy: { singleTenant: true } });
    for (let round = 0; round < 10; round += 1) {
      const calls = [() => outcome(single()), () => outcome(offer(fleet, "t-b", 1))];
      const both = await Promise.all(
        (round % 2 ? calls : calls.toReversed()).map((call) => call()),
      );
      expect(both.toSorted()).toEqual(["INVALID_STATE", "OK"]);
      const { offers, policy } = await ownersView(fleet);
      const tenants = offers?.map(({ tenantId }) => tenantId);
      if (policy.singleTenant) expect(tenants).toEqual(["t-a"]);
      else expect(tenants).toEqual(["t-a", "t-b"]);
      await unoffer(fleet, "t-b");
      await update(fleet, { policy: {} });
    }
    await expectEmptyAfterRelease(server, fleet);
  });
});
