/** Staying longer where one is. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_SCALARS } from "../model.ts";
import type { Node, Reservation, Unit } from "../model.ts";
import { PoolState } from "../state/pool-state.ts";
import {
  bruteIsFree,
  bruteScalarPeak,
  buildMaintenance,
  buildNode,
  buildReservation,
  buildSnapshot,
  LAST_INSTANT,
  poolArb,
} from "../testing/index.ts";
import { extension } from "./extend.ts";

const node = buildNode(0, { gpus: 1 });
const unitIds = node.units.map((unit) => unit.id);
const mine = buildReservation(1, { node, unitIds }, { start: 0, end: 10 });

function stateOf(nodes: readonly Node[], ...reservations: Reservation[]): PoolState {
  return PoolState.load(buildSnapshot(nodes, [mine, ...reservations]));
}

test("another booking stops it exactly at that booking's start, and itself never does", () => {
  const other = buildReservation(2, { node, unitIds }, { start: 14, end: 20 });
  const state = stateOf([node], other);
  expect(extension(state, mine, 14)).toEqual({ fits: true });
  expect(extension(state, mine, 15)).toEqual({
    fits: false,
    latestEnd: 14,
    reason: {
      code: "BUSY",
      message: "1 gpu: 1 of 1 nodes is booked in this window",
      blocked: [{ cause: "BUSY", nodes: 1 }],
    },
  });
  state.apply({ kind: "reservation", before: other, after: { ...other, state: "released" } });
  expect(extension(state, mine, 1_000_000)).toEqual({ fits: true });
});

test("maintenance stops it at its start, or at once when it runs over the end", () => {
  const later = [buildMaintenance(1, { start: 12, end: 30 })];
  const over = [buildMaintenance(1, { start: 5, end: 30 })];
  const past = [buildMaintenance(1, { start: 5, end: 10 })];
  expect(extension(stateOf([{ ...node, maintenance: later }]), mine, 13)).toMatchObject({
    latestEnd: 12,
  });
  expect(extension(stateOf([{ ...node, maintenance: over }]), mine, 11)).toMatchObject({
    latestEnd: 10,
    reason: { code: "MAINTENANCE" },
  });
  expect(extension(stateOf([{ ...node, maintenance: past }]), mine, 11)).toEqual({ fits: true });
});

test("a node that is not ready, or a faulty unit, grants nothing more", () => {
  const faulty = { ...node, units: node.units.map((unit) => ({ ...unit, healthy: false })) };
  expect(extension(stateOf([faulty]), mine, 11)).toMatchObject({
    latestEnd: 10,
    reason: { code: "UNHEALTHY" },
  });
  const down = { ...node, state: "unhealthy" as const };
  expect(extension(stateOf([down]), mine, 11)).toMatchObject({
    latestEnd: 10,
    reason: { code: "NODE_STATE" },
  });
});

test("a scalar that others use later stops it where it runs out", () => {
  const wide = buildNode(0, { gpus: 2 }, { scalars: { vcpu: 10, memoryGiB: 0, hugepages1Gi: 0 } });
  const [first, second] = wide.units as [Unit, Unit];
  const six = { ...NO_SCALARS, vcpu: 6 };
  const held = buildReservation(
    1,
    { node: wide, unitIds: [first.id] },
    { start: 0, end: 10, resources: six },
  );
  const other = buildReservation(
    2,
    { node: wide, unitIds: [second.id] },
    { start: 17, end: 20, resources: six },
  );
  const state = PoolState.load(buildSnapshot([wide], [held, other]));
  expect(extension(state, held, 17)).toEqual({ fits: true });
  expect(extension(state, held, 18)).toMatchObject({ latestEnd: 17, reason: { code: "SCALAR" } });
});

test("latestEnd is the last end at which every unit and amount is free", () => {
  fc.assert(
    fc.property(poolArb, (snapshot) => {
      const state = PoolState.load(snapshot);
      for (const reservation of snapshot.reservations) {
        const end = LAST_INSTANT + 20;
        const answer = extension(state, reservation, end);
        const others = {
          ...snapshot,
          reservations: snapshot.reservations.filter((r) => r !== reservation),
        };
        const isFree = (at: number): boolean =>
          reservation.members.every((member) => {
            const on = others.nodes.find(({ id }) => id === member.nodeId) as Node;
            const window = { start: reservation.end, end: at };
            const held = on.units.filter((unit) => member.unitIds.includes(unit.id));
            const used = bruteScalarPeak(others, { node: on, scalar: "vcpu" }, window);
            return (
              on.state === "ready" &&
              held.every(
                (unit) => unit.healthy && !unit.removed && bruteIsFree(others, unit, window),
              ) &&
              !on.maintenance.some((m) => m.start < at && m.end > reservation.end) &&
              (member.resources.vcpu === 0 || used + member.resources.vcpu <= on.scalars.vcpu)
            );
          });
        let latest = reservation.end;
        while (latest < end && isFree(latest + 1)) latest += 1;
        expect(answer.fits ? end : answer.latestEnd).toBe(latest);
      }
    }),
    { numRuns: 200 },
  );
});
