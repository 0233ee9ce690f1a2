/** What comes first when time passes. */
import { expect, test } from "vitest";
import { type DueItem, keyOfDue } from "./due-queue.ts";
import { PoolState } from "./pool-state.ts";
import { buildMaintenance, buildNode, buildReservation, buildSnapshot } from "../testing/index.ts";
import type { Reservation } from "../model.ts";

const node = buildNode(0);
const reservation = (
  n: number,
  more: Partial<Reservation> & { start: number; end: number },
): Reservation =>
  buildReservation(n, { node, unitIds: node.units.slice(n, n + 1).map((unit) => unit.id) }, more);

test("at one instant ends come before starts, leases after ends, then ids", () => {
  const maintenance = [
    buildMaintenance(1, { start: 10, end: 20 }),
    buildMaintenance(2, { start: 0, end: 10, active: true }),
  ];
  const rows = [
    reservation(1, { start: 10, end: 20 }),
    reservation(2, { start: 0, end: 30, endingSoonAt: 10 }),
    reservation(3, { start: 0, end: 30, leaseExpiresAt: 10 }),
    reservation(5, { start: 0, end: 10 }),
    reservation(4, { start: 0, end: 10, leaseExpiresAt: 10 }),
  ];
  const state = PoolState.load(buildSnapshot([{ ...node, maintenance }], rows));
  const order: string[] = [];
  for (let item = state.due(10); item; item = state.due(10)) {
    order.push(`${item.kind} ${keyOfDue(item).at(-1)}`);
    settle(state, item);
  }
  expect(order).toEqual([
    "end 4",
    "end 5",
    "lease 3",
    "maintenanceEnd 2",
    "endingSoon 2",
    "maintenanceStart 1",
    "start 1",
  ]);
  expect(state.nextDueAt()).toBe(20);
});

test("nothing is due before its time, and a renewed lease moves it", () => {
  const leased = reservation(1, { start: 0, end: 100, leaseExpiresAt: 30 });
  const state = PoolState.load(buildSnapshot([node], [leased]));
  expect(state.due(29)).toBeNull();
  expect(state.due(30)).toEqual({ kind: "lease", at: 30, reservationId: leased.id });
  const after = { ...leased, leaseExpiresAt: 60 };
  state.apply({ kind: "reservation", before: leased, after });
  expect(state.nextDueAt()).toBe(60);
  state.apply({ kind: "reservation", before: after, after: { ...after, state: "released" } });
  expect(state.nextDueAt()).toBeNull();
});

function settle(state: PoolState, item: DueItem): void {
  if ("reservationId" in item) {
    const before = state.reservation(item.reservationId) as Reservation;
    const after: Reservation =
      item.kind === "start"
        ? { ...before, state: "active", startedAt: item.at }
        : item.kind === "endingSoon"
          ? { ...before, endingSoonAt: null }
          : { ...before, state: item.kind === "end" ? "completed" : "expired" };
    state.apply({ kind: "reservation", before, after });
    return;
  }
  if ("unitReservationId" in item) {
    const before = state.unitReservation(item.unitReservationId);
    if (!before) throw new Error("no unit reservation");
    const status = item.kind === "unitReservationStart" ? "active" : "expired";
    state.apply({ kind: "unitReservation", before, after: { ...before, status } });
    return;
  }
  if ("waiterId" in item) {
    const before = state.waiting.get(item.waiterId) ?? null;
    state.apply({ kind: "waiter", before, after: null });
    return;
  }
  const before = state.node(item.nodeId);
  if (!before) throw new Error("no node");
  const maintenance =
    item.kind === "maintenanceEnd"
      ? before.maintenance.filter((m) => m.id !== item.maintenanceId)
      : before.maintenance.map((m) => (m.id === item.maintenanceId ? { ...m, active: true } : m));
  state.apply({ kind: "node", before, after: { ...before, maintenance } });
}
