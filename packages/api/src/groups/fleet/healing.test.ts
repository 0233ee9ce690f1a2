/** What becomes of bookings whose hardware fails or leaves, through the API and down to the rows. */
import type { Output } from "@berth/contract";
import type { PoolId } from "@berth/domain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookingApi, HOUR, MINUTE, NOW } from "../test-kit.ts";

let api: BookingApi;

beforeAll(async () => {
  api = await BookingApi.open();
});
afterAll(() => api.close());

type Reservation = Output<"reservations.get">;
type Shown = Output<"fleet.getNode">;

const LATER = { start: NOW + HOUR };
const TEAM = { ...LATER, gang: { size: 2 } };

const seen = ({ id, tenantId }: Reservation): Promise<Reservation> =>
  api.call("reservations.get", { tenantId, reservationId: id });
const nodesOf = ({ members }: Reservation): string[] => (members ?? []).map((m) => m.nodeId);
const unitsOf = ({ members }: Reservation): string[] =>
  (members ?? []).flatMap(({ atoms }) => atoms.map(({ unitId }) => unitId));
const first = ([one]: readonly string[]): string => one ?? "";
const setState = (nodeId: string, state: string): Promise<Shown> =>
  api.call("fleet.setNodeState", { nodeId, state });

/** The units that the database has booked for it, and until when. */
async function booked({ id }: Reservation): Promise<{ unitId: string; during: string }[]> {
  return api.test.database.sql<{ unitId: string; during: string }[]>`
    select u.id as "unitId", b.during::text as during from bookings b
    join units u on u.key = b.unit_key where b.reservation_id = ${id} order by u.id`;
}

async function seqOf(poolId: string): Promise<number> {
  const [row] = await api.test.database.sql<{ seq: number }[]>`
    select seq from gates where id = ${poolId}`;
  return row?.seq ?? -1;
}

describe("a node that fails", () => {
  test("is left by what has not begun, in the rows too, and what has begun is flagged where it is", async () => {
    const poolId = await api.pool(2, 8);
    const running = await api.book(poolId, 2, { duration: "30m" });
    const planned = await api.book(poolId, 2, LATER);
    const nodeId = first(nodesOf(running));
    expect(nodesOf(planned)).toEqual([nodeId]);
    const shown = await setState(nodeId, "unhealthy");
    expect(shown).toMatchObject({ state: "unhealthy", version: 2 });

    const moved = await seen(planned);
    expect(nodesOf(moved)).not.toEqual([nodeId]);
    expect(moved).toMatchObject({ state: "scheduled", degraded: null, ...LATER });
    const during = `[${planned.start},${planned.end})`;
    const rows = unitsOf(moved)
      .toSorted()
      .map((unitId) => ({ unitId, during }));
    expect(await booked(planned)).toEqual(rows);
    const degraded = { since: NOW, cause: "NODE_STATE", unitIds: unitsOf(running) };
    expect(await seen(running)).toMatchObject({ members: running.members, degraded });
    expect(await api.events("t-a", poolId)).toEqual([
      "pool.offered",
      "reservation.created",
      "reservation.created",
      "node.stateChanged",
      "reservation.degraded",
      "reservation.healed",
    ]);
    expect(await api.events("t-b", poolId)).toEqual(["pool.offered"]);
    await api.capacityAgrees(poolId);
    await setState(nodeId, "ready");
    expect((await seen(running)).degraded).toBeNull();
  });

  test("keeps what has nowhere to go, flagged, until somebody else lets go", async () => {
    const poolId = await api.pool(2, 8);
    const planned = await api.book(poolId, 8, LATER);
    const other = await api.book(poolId, 8, { ...LATER, tenantId: "t-b" });
    await setState(first(nodesOf(planned)), "unreachable");
    expect(await seen(planned)).toMatchObject({ degraded: { cause: "NODE_STATE" }, version: 2 });
    expect(await booked(planned)).toHaveLength(8);
    await api.release(other);
    expect(unitsOf(await seen(planned))).toEqual(unitsOf(other));
    expect(await api.used(poolId, "t-a")).toBe(8);
    expect(await api.used(poolId, "t-b")).toBe(0);
  });

  test("serves the one who was promised before the one who waits", async () => {
    const poolId = await api.pool(2, 8);
    const planned = await api.book(poolId, 8, LATER);
    const other = await api.book(poolId, 8, { ...LATER, tenantId: "t-b" });
    await setState(first(nodesOf(planned)), "unreachable");
    const { outcome, hangUp } = await api.waiting(poolId, 8, { ...LATER, tenantId: "t-c" });
    await api.release(other);
    expect((await seen(planned)).degraded).toBeNull();
    hangUp();
    expect((await outcome).code).not.toBe("OK");
  });

  test("under more bookings than one write has time for, they follow by and by", async () => {
    const poolId = await api.pool(0, 0);
    const { siteId } = api;
    const nodes = Array.from({ length: 500 }, (_, n) => api.report(`many-${n}`, 1));
    await api.call("fleet.putNodes", { siteId, poolId, nodes });
    const hours = Array.from({ length: 110 }, (_, n) => ({ start: NOW + (n + 1) * HOUR }));
    const planned = await Promise.all(hours.map((at) => api.book(poolId, 1, at)));
    const nodeId = first(nodesOf(planned[0] as Reservation));
    expect(planned.every((one) => first(nodesOf(one)) === nodeId)).toBe(true);
    await setState(nodeId, "unhealthy");
    const left = async () =>
      api.test.database.sql<{ degraded: object }[]>`
        select degraded from reservations where pool_id = ${poolId} and degraded is not null`;
    const flagged = await left();
    expect(flagged.length).toBeGreaterThan(0);
    // What the worker does, and every read: it looks whether something is due, and there is.
    await api.test.deps.engine.settle([poolId as PoolId]);
    expect(await left()).toEqual([]);
    const moved = await Promise.all(planned.map(seen));
    expect(moved.some((one) => first(nodesOf(one)) === nodeId)).toBe(false);
    const [due] = await api.test.database.sql<{ nextAt: number }[]>`
      select next_at as "nextAt" from pool_due where gate_id = ${poolId}`;
    expect(due?.nextAt).toBeGreaterThan(NOW);
  }, 60_000);
});

describe("a unit that fails", () => {
  test("is left by what has not begun; one that is no longer reported, too, and then it is gone", async () => {
    const poolId = await api.pool(1, 3);
    const one = await api.book(poolId, 1, LATER);
    const two = await api.book(poolId, 1, { duration: "2h" });
    await api.call("fleet.setUnitHealth", { unitId: first(unitsOf(one)), healthy: false });
    expect(unitsOf(await seen(one))).not.toEqual(unitsOf(one));
    const nodeId = first(nodesOf(one));
    const get = () => api.call("fleet.getNode", { tenantId: "t-own", nodeId });
    const { units, name } = await get();
    const gone = units.find(({ id }) => id === first(unitsOf(two)));
    const { gpus, ...report } = api.report(name, 3) as { gpus: { uuid: string }[] };
    const less = { ...report, gpus: gpus.filter(({ uuid }) => uuid !== gone?.gpuUuid) };
    await api.call("fleet.putNodes", { siteId: api.siteId, poolId, nodes: [less] });
    expect(await seen(two)).toMatchObject({ degraded: { cause: "REMOVED" }, members: two.members });
    expect((await api.gpuRow(poolId)).total).toBe(3);
    await api.release(two);
    expect((await get()).units.map(({ id }) => id)).not.toContain(gone?.id);
  });
});

describe("maintenance", () => {
  const window = { from: NOW + HOUR, to: NOW + 2 * HOUR };

  test("planned dry writes nothing, and names what the real call names; with another plan it does nothing", async () => {
    const poolId = await api.pool(2, 8);
    const running = await api.book(poolId, 1, { duration: "3h" });
    const [moves, after] = [
      await api.book(poolId, 2, LATER),
      await api.book(poolId, 2, { start: window.to }),
    ];
    const full = await api.book(poolId, 5, { start: NOW + 1.5 * HOUR });
    const nodeId = first(nodesOf(running));
    for (const one of [moves, after, full]) expect(nodesOf(one)).toEqual([nodeId]);
    await api.book(poolId, 4, { start: NOW + 1.5 * HOUR, tenantId: "t-b" });
    const ask = { nodeId, ...window };

    const [seq, before] = [await seqOf(poolId), await api.events("t-a", poolId)];
    const dry = await api.call("fleet.scheduleMaintenance", { ...ask, dryRun: true });
    const plan = { healed: [moves.id], staying: [running.id, full.id].toSorted() };
    expect(dry).toEqual({ id: null, ...plan });
    expect(await seqOf(poolId)).toBe(seq);
    expect(await api.events("t-a", poolId)).toEqual(before);
    expect(await seen(moves)).toEqual(moves);

    const nobody = { healed: [], staying: [] };
    for (const more of [{}, { dryRun: true }]) {
      const refused = await api.error("fleet.scheduleMaintenance", {
        ...ask,
        ...more,
        expect: nobody,
      });
      expect(refused).toMatchObject({
        code: "CONFLICT",
        details: { kind: "plan", plan: { id: null, ...plan } },
      });
    }
    expect(await seqOf(poolId)).toBe(seq);

    const done = await api.call("fleet.scheduleMaintenance", { ...ask, expect: plan });
    expect(done).toEqual({ id: done.id, ...plan });
    expect(nodesOf(await seen(moves))).not.toEqual([nodeId]);
    expect((await seen(full)).degraded).toMatchObject({ cause: "MAINTENANCE" });
    expect((await seen(running)).degraded).toMatchObject({ cause: "MAINTENANCE" });
    expect(await seen(after)).toEqual(after);

    const maintenanceId = done.id ?? "";
    const called = await api.call("fleet.cancelMaintenance", { maintenanceId });
    expect(called).toEqual({ ...plan, id: done.id, healed: plan.staying, staying: [] });
    for (const one of [full, running]) expect((await seen(one)).degraded).toBeNull();
  });

  test("that begins under a booking which found no room starts it flagged, and ends with the flag", async () => {
    const poolId = await api.pool(1, 2);
    const planned = await api.book(poolId, 2, { ...LATER, duration: "3h" });
    const nodeId = first(nodesOf(planned));
    await api.call("fleet.scheduleMaintenance", {
      nodeId,
      from: NOW + 30 * MINUTE,
      to: NOW + 2 * HOUR,
    });
    await api.clock.set(NOW + HOUR);
    expect(await seen(planned)).toMatchObject({
      state: "active",
      degraded: { since: NOW, cause: "MAINTENANCE" },
    });
    expect((await api.gpuRow(poolId)).maintenance).toBe(2);
    await api.clock.set(NOW + 2 * HOUR);
    expect(await seen(planned)).toMatchObject({ state: "active", degraded: null });
    const told = await api.events("t-a", poolId);
    expect(told.filter((type) => /activated|degraded|healed|maintenance/.test(type))).toEqual([
      "maintenance.scheduled",
      "reservation.degraded",
      "maintenance.started",
      "reservation.activated",
      "reservation.degraded",
      "maintenance.ended",
      "reservation.healed",
    ]);
    await api.clock.set(NOW + 5 * HOUR);
  });
});

describe("a node that is to leave its pool", () => {
  const ways = [
    ["removed", "fleet.removeNode", {}],
    ["assigned to none", "fleet.assignNode", { poolId: null }],
  ] as const;
  const at = NOW + 10 * HOUR;
  const team = { ...TEAM, start: at };

  test.each(ways)("is %s once a gang that has not begun is elsewhere", async (_, method, more) => {
    const poolId = await api.pool(3, 8);
    const planned = await api.book(poolId, 8, team);
    const nodeId = first(nodesOf(planned));
    await api.call(method, { nodeId, ...more });
    const moved = await seen(planned);
    expect(nodesOf(moved)).not.toContain(nodeId);
    expect(nodesOf(moved)[1]).toBe(nodesOf(planned)[1]);
    expect(await booked(planned)).toHaveLength(16);
    expect((await api.gpuRow(poolId)).total).toBe(16);
  });

  test.each(ways)(
    "is not %s when one finds no room, and nothing has changed",
    async (_, method, more) => {
      const poolId = await api.pool(2, 8);
      const small = await api.book(poolId, 1, { start: at });
      const planned = await api.book(poolId, 4, team);
      const nodeId = first(nodesOf(planned));
      const seq = await seqOf(poolId);
      await api.book(poolId, 4, { start: at, tenantId: "t-b" });
      const refused = await api.error(method, { nodeId, ...more });
      expect(refused.code).toBe("INVALID_STATE");
      expect(refused.message).toContain("would not fit elsewhere");
      for (const one of [small, planned]) expect(await seen(one)).toEqual(one);
      expect(await seqOf(poolId)).toBe(seq + 1);
    },
  );

  test.each(ways)("is not %s while something runs on it", async (_, method, more) => {
    const poolId = await api.pool(2, 8);
    const running = await api.book(poolId, 1);
    const refused = await api.error(method, { nodeId: first(nodesOf(running)), ...more });
    expect(refused).toMatchObject({ code: "INVALID_STATE" });
  });
});
