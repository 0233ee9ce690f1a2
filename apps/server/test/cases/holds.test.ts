/** What keeps a unit from use: several things at once, each of which ends by itself and for itself. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, node, pool, startServer } from "../harness.ts";
import {
  type Asker,
  HOUR,
  MINUTE,
  NOW,
  asker,
  bookGpus,
  outcome,
  refusal,
  release,
  unitsOf,
} from "./asking.ts";
import { expectConsistent, expectEmptyAfterRelease, gpuRow } from "./invariants.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
});
afterAll(async () => {
  await server.expectHealthy();
  await server.stop();
});

let made = 0;

/** A pool of one node with two GPUs that can be set aside. */
async function twoGpus(): Promise<{ fleet: Fleet; nodeId: string; units: string[]; now: number }> {
  made += 1;
  const now = NOW + made * 100 * HOUR;
  await server.clock?.set(now);
  const [plain] = [node(`held-${made}`, 2)];
  const gpus = (plain.gpus ?? []).map((gpu) => ({ ...gpu, vfioGroup: String(gpu.index) }));
  const fleet = await server.fleet(pool(0, 0, { nodes: [{ ...plain, gpus }] }));
  const { owner: tenantId, poolId } = fleet;
  const { nodes } = await server.admin.fleet.listNodes({ tenantId, poolId });
  const [only] = nodes;
  if (!only) throw new Error("the pool has its node");
  return { fleet, nodeId: only.id, units: only.units.map(({ id }) => id), now };
}

/** Whether each of the tenants could book exactly this unit now; nothing is kept. */
async function whoMay(fleet: Fleet, unitId: string): Promise<string[]> {
  const may: string[] = [];
  for (const tenantId of ["t-a", "t-b"]) {
    const one = await asker(server, tenantId, fleet);
    const booked = await bookExactly(one, unitId).catch(() => null);
    if (!booked) continue;
    may.push(tenantId);
    await release(one, booked);
  }
  return may;
}

function bookExactly(by: Asker, unitId: string) {
  const devices = [{ class: "gpu" as const, count: 1, selector: { unitIds: [unitId] } }];
  return bookGpus(by, 1, { devices, duration: "1m" });
}

describe("a unit that is set aside and in maintenance", () => {
  const cases = [
    ["the ring-fence first: nobody's, then anybody's", HOUR, 2 * HOUR, [], ["t-a", "t-b"]],
    [
      "the maintenance first: the ring-fence's, then anybody's",
      2 * HOUR,
      HOUR,
      ["t-a"],
      ["t-a", "t-b"],
    ],
  ] as const;

  it.each(cases)("which end with %s", async (_, fence, service, between, after) => {
    const { fleet, nodeId, units, now } = await twoGpus();
    const [held = "", other = ""] = units;
    const endsAt = new Date(now + fence).toISOString();
    const terms = { nodeId, unitIds: [held], allowedOrgIds: ["t-a"], endsAt };
    await server.admin.unitReservations.create(terms);
    await server.admin.fleet.scheduleMaintenance({ nodeId, from: now, to: now + service });
    expect(await gpuRow(server, fleet)).toMatchObject({ total: 2, maintenance: 2, unhealthy: 0 });
    expect(await whoMay(fleet, held)).toEqual([]);
    await server.clock?.set(now + 1.5 * HOUR);
    expect(await whoMay(fleet, held)).toEqual([...between]);
    await server.clock?.set(now + 2 * HOUR);
    expect(await whoMay(fleet, held)).toEqual([...after]);
    expect(await whoMay(fleet, other)).toEqual(["t-a", "t-b"]);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("and faulty besides is nobody's until all three are over, and counted once throughout", async () => {
    const { fleet, nodeId, units, now } = await twoGpus();
    const [held = ""] = units;
    const endsAt = new Date(now + HOUR).toISOString();
    const terms = { nodeId, unitIds: [held], allowedOrgIds: ["t-a"], endsAt };
    await server.admin.unitReservations.create(terms);
    await server.admin.fleet.scheduleMaintenance({ nodeId, from: now, to: now + 2 * HOUR });
    await server.admin.fleet.setUnitHealth({ unitId: held, healthy: false });
    const row = { total: 2, allocatable: 0, maintenance: 1, unhealthy: 1, available: 0 };
    expect(await gpuRow(server, fleet)).toMatchObject(row);
    for (const passed of [HOUR, 2 * HOUR]) {
      await server.clock?.set(now + passed);
      expect(await whoMay(fleet, held)).toEqual([]);
    }
    expect(await gpuRow(server, fleet)).toMatchObject({
      maintenance: 0,
      unhealthy: 1,
      available: 1,
    });
    await server.admin.fleet.setUnitHealth({ unitId: held, healthy: true });
    expect(await whoMay(fleet, held)).toEqual(["t-a", "t-b"]);
    await expectConsistent(server, fleet);
  });
});

describe("a node in maintenance", () => {
  it("on which a booking is to begin is left by it while others have room, and they stay bookable", async () => {
    const fleet = await server.fleet(pool(2, 2));
    const [a, b] = [await asker(server, "t-a", fleet), await asker(server, "t-b", fleet)];
    const start = (server.clock ? await server.clock.now() : NOW) + HOUR;
    const planned = await bookGpus(a, 2, { start });
    const nodeId = planned.members?.[0]?.nodeId ?? "";
    await server.admin.fleet.setNodeState({ nodeId, state: "maintenance" });
    const ask = { tenantId: "t-a", reservationId: planned.id };
    const moved = await a.berth.reservations.get(ask);
    expect(moved).toMatchObject({ state: "scheduled", degraded: null, start });
    expect(moved.members?.[0]?.nodeId).not.toBe(nodeId);
    const now = await bookGpus(b, 2, { duration: "30m" });
    expect(now.members?.[0]?.nodeId).toBe(moved.members?.[0]?.nodeId);
    await expectConsistent(server, fleet);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("on which a booking has to stay is not begun on in silence: it is active, degraded, and its tenant told", async () => {
    const fleet = await server.fleet(pool(2, 2));
    const [a, b] = [await asker(server, "t-a", fleet), await asker(server, "t-b", fleet)];
    const now = server.clock ? await server.clock.now() : NOW;
    const start = now + HOUR;
    const planned = await bookGpus(a, 2, { start });
    await bookGpus(b, 2, { start });
    const nodeId = planned.members?.[0]?.nodeId ?? "";
    await server.admin.fleet.setNodeState({ nodeId, state: "maintenance" });
    const ask = { tenantId: "t-a", reservationId: planned.id };
    const degraded = { since: now, cause: "NODE_STATE", unitIds: unitsOf(planned) };
    const listed = await a.berth.reservations.list({ tenantId: "t-a", state: ["scheduled"] });
    expect(listed.reservations).toMatchObject([{ id: planned.id, degraded }]);
    expect(await outcome(bookGpus(b, 2, { duration: "30m" }))).toBe("OK");
    expect((await refusal(bookGpus(b, 1, { start }))).code).toBe("NO_CAPACITY");
    await server.clock?.set(start + MINUTE);
    expect(await a.berth.reservations.get(ask)).toMatchObject({ state: "active", degraded });
    const told = async () => {
      const { events } = await a.berth.events.list({ ...ask, limit: 100 });
      return events.map(({ type }) => type);
    };
    await expect
      .poll(told)
      .toEqual([
        "reservation.created",
        "reservation.degraded",
        "reservation.activated",
        "reservation.degraded",
      ]);
    await server.admin.fleet.setNodeState({ nodeId, state: "ready" });
    expect(await a.berth.reservations.get(ask)).toMatchObject({ state: "active", degraded: null });
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("a node whose GPUs are other ones than those that were set aside", () => {
  it("keeps what runs on them, flagged, and what has not begun goes elsewhere until somebody has looked", async () => {
    const { fleet, nodeId, units, now } = await twoGpus();
    const [held = ""] = units;
    const a = await asker(server, "t-a", fleet);
    const running = await bookExactly(a, held);
    const start = now + HOUR;
    const planned = await bookGpus(a, 1, { start });
    const terms = { nodeId, unitIds: [held], allowedOrgIds: ["t-a"] };
    const set = await server.admin.unitReservations.create(terms);
    const of = (reservationId: string) =>
      a.berth.reservations.get({ tenantId: "t-a", reservationId });
    const { owner: tenantId, siteId, poolId } = fleet;
    const { name } = await server.admin.fleet.getNode({ tenantId, nodeId });
    const rewired = (node(name, 2).gpus ?? []).map((gpu) => ({
      ...gpu,
      vfioGroup: String(10 + gpu.index),
    }));
    await server.admin.fleet.putNodes({
      siteId,
      poolId,
      nodes: [node(name, 2, { gpus: rewired })],
    });
    const degraded = { cause: "NEEDS_REVIEW", unitIds: [held] };
    expect(await of(running.id)).toMatchObject({ members: running.members, degraded });
    expect(unitsOf(await of(planned.id))).not.toContain(held);
    expect((await of(planned.id)).degraded).toBeNull();
    await server.admin.unitReservations.reaffirm({ nodeId, reservationId: set.id });
    expect((await of(running.id)).degraded).toBeNull();
    await server.admin.unitReservations.cancel({ nodeId, reservationId: set.id });
    await expectEmptyAfterRelease(server, fleet);
  });
});
