/** What a reservation that is more than units for a while holds: whole nodes, pins, notices. */
import { expect, test } from "vitest";
import { NO_SCALARS, type Node, type Reservation } from "../model.ts";
import { recountRollup } from "../rollup/recount.ts";
import { extension } from "../placer/extend.ts";
import { place } from "../placer/place.ts";
import { buildNode, buildRequest, buildReservation, buildSnapshot } from "../testing/index.ts";
import { PoolState } from "./pool-state.ts";

const node = buildNode(1, { gpus: 4, vfs: 2 });
const all = node.units.map(({ id }) => id);

function lease(start: number): Reservation {
  const resources = node.scalars;
  return {
    ...buildReservation(1, { node, unitIds: all }, { start, end: start + 10, binding: "node" }),
    devices: [{ class: "node", count: 1 }],
    members: [{ index: 0, nodeId: node.id, unitIds: all, resources }],
  };
}

test("a lease of a whole node counts as one node and as its GPUs, and takes all scalars", () => {
  const snapshot = buildSnapshot([node, buildNode(2)], [lease(-5)]);
  const state = PoolState.load(snapshot);
  const rows = new Map(state.rollup().map((row) => [row.resource, row]));
  expect(rows.get("node")).toMatchObject({ total: 2, allocated: 1, reserved: 0, available: 1 });
  expect(rows.get("gpu")).toMatchObject({ total: 12, allocated: 4 });
  expect(rows.get("vcpu")).toMatchObject({ allocated: 96 });
  expect(state.rollup()).toEqual(recountRollup(snapshot, 0));
  const used = (resource: string): number => state.usage("t-a", resource)?.at(0) ?? 0;
  expect(["node", "gpu", "nic.vf", "vcpu", "gpu.mig"].map(used)).toEqual([1, 4, 2, 96, 0]);
});

test("a lease that starts later is reserved, and allocated from its start on", () => {
  const before = lease(5);
  const state = PoolState.load(buildSnapshot([node], [before]));
  expect(state.rollup().find((row) => row.resource === "node")).toMatchObject({ reserved: 1 });
  const after: Reservation = { ...before, state: "active", startedAt: 5 };
  state.apply({ kind: "reservation", before, after });
  expect(state.rollup().find((row) => row.resource === "node")).toMatchObject({
    allocated: 1,
    reserved: 0,
  });
});

test("a shared GPU's parts count as GPUs in a lease, once each", () => {
  const slots = all.slice(0, 4).map((id, i) => ({
    ...node.units[i]!,
    class: "gpu.slot" as const,
    parentUnitId: i < 2 ? all[4]! : all[5]!,
    id,
  }));
  const shared = { ...node, units: slots };
  const unitIds = slots.map(({ id }) => id);
  const row = {
    ...lease(0),
    members: [{ index: 0, nodeId: node.id, unitIds, resources: NO_SCALARS }],
  };
  const state = PoolState.load(buildSnapshot([shared], [row]));
  expect(state.usage("t-a", "gpu")?.at(0)).toBe(2);
  expect(state.usage("t-a", "gpu.slot")).toBeUndefined();
});

test("what is pinned is taken in the gap before the start, and neither charged nor counted", () => {
  const [first] = all as [(typeof all)[number]];
  const before = buildReservation(1, { node, unitIds: [first] }, { start: 100, end: 200 });
  const state = PoolState.load(buildSnapshot([node], [before]));
  const rows = state.rollup();
  const pin = {
    nodeId: node.id,
    unitIds: [first],
    resources: { ...NO_SCALARS, vcpu: 7 },
    from: 40,
  };
  const change = { kind: "reservation" as const, before, after: { ...before, pins: [pin] } };
  state.apply(change);
  expect(state.bookingsOf(first).map(({ start, end }) => [start, end])).toEqual([
    [40, 100],
    [100, 200],
  ]);
  expect(state.entry(node.id)?.scalarUse.get("vcpu")?.all.at(50)).toBe(7);
  expect(state.rollup()).toEqual(rows);
  expect(state.usage("t-a", "gpu")?.peak(0, 100)).toBe(0);
  state.revert(change);
  expect(state.bookingsOf(first)).toHaveLength(1);
  expect(state.entry(node.id)?.scalarUse.get("vcpu")?.all.at(50)).toBe(0);
});

test("one under notice that has not begun is reserved, and is found by whoever caused it", () => {
  const byId = buildReservation(2, { node, unitIds: [] }, { start: 0, end: 1 }).id;
  const preemption = { noticeAt: 0, endsAt: 50, byId, originalEnd: 90 };
  const row = buildReservation(
    1,
    { node, unitIds: all.slice(0, 1) },
    { start: 10, end: 50, state: "preempting", spot: true, preemption },
  );
  const state = PoolState.load(buildSnapshot([node], [row]));
  expect(state.rollup().find((r) => r.resource === "gpu")).toMatchObject({
    reserved: 1,
    allocated: 0,
  });
  expect(state.due(10)).toMatchObject({ kind: "start" });
  expect(state.victimsOf(byId)).toEqual([row]);
  expect(state.preemptible().size).toBe(0);
});

test("a device that joins a leased node is nobody else's until the lease is over, and may leave again", () => {
  const held = lease(5);
  const state = PoolState.load(buildSnapshot([node], [held]));
  const grown = buildNode(1, { gpus: 5, vfs: 2 });
  const units = [...node.units, ...grown.units.filter(({ id }) => !all.includes(id))];
  const after: Node = { ...node, units };
  const joined = { kind: "node" as const, before: node, after };
  state.apply(joined);
  const fits = (start: number, end: number): boolean =>
    place(state, buildRequest({ start, end })).fits;
  expect([fits(0, 5), fits(0, 6), fits(14, 15), fits(15, 16)]).toEqual([true, false, false, true]);
  expect(state.rollup()).toEqual(recountRollup(buildSnapshot([after], [held]), 0));
  const loaded = PoolState.load(buildSnapshot([after], [held]));
  for (const { id } of units) expect(loaded.bookingsOf(id)).toEqual(state.bookingsOf(id));

  const extra = units.filter(({ id }) => !all.includes(id)).map(({ id }) => id);
  expect(extra).toHaveLength(1);
  const later = buildReservation(2, { node: after, unitIds: extra }, { start: 20, end: 30 });
  const booked = { kind: "reservation" as const, before: null, after: later };
  state.apply(booked);
  expect(extension(state, held, 25)).toMatchObject({ fits: false, latestEnd: 20 });
  state.revert(booked);

  const ended = { ...held, state: "released" as const, endedAt: 0 };
  const release = { kind: "reservation" as const, before: held, after: ended };
  state.apply(release);
  expect(fits(5, 6)).toBe(true);
  state.revert(release);
  state.revert(joined);
  expect(state.node(node.id)).toBe(node);
  expect([fits(0, 5), fits(0, 6), fits(15, 16)]).toEqual([true, false, true]);
});
