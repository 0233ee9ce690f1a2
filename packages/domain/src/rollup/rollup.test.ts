/** What each number of a capacity row counts. */
import { expect, test } from "vitest";
import { NO_SCALARS } from "../model.ts";
import type { Node, PoolSnapshot, Reservation, RollupRow, Unit } from "../model.ts";
import { PoolState } from "../state/pool-state.ts";
import { buildMaintenance, buildNode, buildReservation, buildSnapshot } from "../testing/index.ts";
import { recountRollup } from "./recount.ts";

/** The running row at now = 0, which has to be the recount's. */
function rowOf(snapshot: PoolSnapshot, resource: string): RollupRow | undefined {
  const rows = PoolState.load(snapshot).rollup();
  expect(rows).toEqual(recountRollup(snapshot, 0));
  return rows.find((row) => row.resource === resource);
}

const node = buildNode(0, { gpus: 2, vfs: 1, disks: 1 });
const [first, second] = node.units as [Unit, Unit];
const book = (
  n: number,
  units: readonly Unit[],
  more: Partial<Reservation> & { start: number; end: number },
): Reservation => buildReservation(n, { node, unitIds: units.map((unit) => unit.id) }, more);

test("a unit booked now and again later counts in both, and available never goes below 0", () => {
  const twice = [
    book(1, [first, second], { start: 0, end: 5 }),
    book(2, [first, second], { start: 5, end: 9 }),
  ];
  expect(rowOf(buildSnapshot([node], twice), "gpu")).toEqual({
    resource: "gpu",
    total: 2,
    allocatable: 2,
    allocated: 2,
    reserved: 2,
    available: 0,
    provisioning: 0,
    unhealthy: 0,
    maintenance: 0,
    unreachable: 0,
  });
});

test("a booked faulty unit is not subtracted twice", () => {
  const units = node.units.map((unit) => (unit === first ? { ...unit, healthy: false } : unit));
  const snapshot = buildSnapshot([{ ...node, units }], [book(1, [first], { start: 0, end: 5 })]);
  expect(rowOf(snapshot, "gpu")).toMatchObject({
    total: 2,
    allocatable: 1,
    unhealthy: 1,
    available: 1,
  });
});

test.each<[string, Partial<Node>, string, string]>([
  [
    "a unit's fault comes before its node's state",
    { state: "provisioning" },
    "unhealthy",
    "provisioning",
  ],
  [
    "nobody knows the units of an unreachable node",
    { state: "unreachable" },
    "unreachable",
    "unreachable",
  ],
  [
    "maintenance under way wins over the node's state",
    {
      state: "provisioning",
      maintenance: [buildMaintenance(1, { start: -5, end: 5, active: true })],
    },
    "unhealthy",
    "maintenance",
  ],
  [
    "maintenance to come changes nothing yet",
    { state: "unhealthy", maintenance: [buildMaintenance(1, { start: 2, end: 5 })] },
    "unhealthy",
    "unhealthy",
  ],
])("%s", (_, more, faulty, others) => {
  const units = node.units.map((unit) => (unit === first ? { ...unit, healthy: false } : unit));
  const snapshot = buildSnapshot([{ ...node, units, ...more }]);
  const gpu = rowOf(snapshot, "gpu") as RollupRow;
  const expected: Record<string, number> = {};
  for (const column of [faulty, others]) expected[column] = (expected[column] ?? 0) + 1;
  expect(gpu).toMatchObject({ total: 2, allocatable: 0, ...expected });
  for (const resource of ["disk", "nic.vf", "node"]) {
    expect(rowOf(snapshot, resource)).toMatchObject({ total: 1, [others]: 1 });
  }
  expect(rowOf(snapshot, "vcpu")).toMatchObject({ total: 96, [others]: 96 });
});

test("a device that is no longer reported stays in the total, as faulty", () => {
  const units = node.units.map((unit) => (unit === first ? { ...unit, removed: true } : unit));
  const snapshot = buildSnapshot([{ ...node, units }], [book(1, [first], { start: 0, end: 5 })]);
  expect(rowOf(snapshot, "gpu")).toMatchObject({
    total: 2,
    unhealthy: 1,
    allocated: 1,
    available: 1,
  });
});

test("reserved amounts are the most in use at once, not the sum of what follows each other", () => {
  const vcpu = (amount: number) => ({ resources: { ...NO_SCALARS, vcpu: amount } });
  const chain = [
    book(1, [first], { start: 0, end: 5, ...vcpu(10) }),
    book(2, [first], { start: 5, end: 9, ...vcpu(60) }),
    book(3, [first], { start: 9, end: 12, ...vcpu(70) }),
    book(4, [second], { start: 10, end: 12, ...vcpu(20) }),
  ];
  expect(rowOf(buildSnapshot([node], chain), "vcpu")).toMatchObject({
    total: 96,
    allocated: 10,
    reserved: 90,
    available: 0,
  });
});

test("a node that shrank under its bookings counts no more than it has", () => {
  const small = { ...node, scalars: { ...node.scalars, vcpu: 8 } };
  const resources = { ...NO_SCALARS, vcpu: 10 };
  const rows = [book(1, [first], { start: 0, end: 5, resources })];
  expect(rowOf(buildSnapshot([small], rows), "vcpu")).toMatchObject({
    total: 8,
    allocated: 8,
    available: 0,
  });
});

test("rows are ordered by resource name and only name what the nodes have", () => {
  const rows = PoolState.load(buildSnapshot([node])).rollup();
  expect(rows.map((row) => row.resource)).toEqual([
    "disk",
    "gpu",
    "memoryGiB",
    "nic.vf",
    "node",
    "vcpu",
  ]);
  expect(PoolState.load(buildSnapshot([])).rollup()).toEqual([]);
});
