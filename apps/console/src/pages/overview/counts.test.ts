import { expect, it } from "vitest";
import { KEYS, mainRow, mineNow, partsOf, splitOf, sumOf, sumsByResource } from "./counts.ts";

const row = { total: 96, allocatable: 90, allocated: 17, reserved: 12, available: 63 };

it("the parts of a bar add up to the whole, though a unit may be booked now and later", () => {
  const split = splitOf(row, 5);
  expect(split).toEqual({ total: 96, mine: 5, others: 12, later: 10, free: 63, down: 6 });
  expect(partsOf(split).reduce((sum, { count }) => sum + count, 0)).toBe(96);
});

it("what is free now and later is never called merely free, which the map says of a moment", () => {
  const names = partsOf(splitOf(row)).map(({ name }) => name);
  expect(names).toContain("free now and later");
  expect(names).not.toContain("free");
  expect(KEYS.map(({ name }) => name)).not.toContain("free");
});

it("more of one's own than is booked is not shown: the counts are a moment apart", () => {
  expect(splitOf(row, 40)).toMatchObject({ mine: 17, others: 0 });
});

it("a pool is measured by whole GPUs, or by their parts where it is cut", () => {
  const of = (resource: string, total: number) => ({ ...row, resource, total, updatedAt: 0 });
  const full = { provisioning: 0, unhealthy: 0, maintenance: 0, unreachable: 0 };
  const rows = (...all: ReturnType<typeof of>[]) => ({
    capacity: all.map((each) => ({ ...each, ...full })),
  });
  expect(mainRow(rows(of("gpu", 0), of("gpu.mig", 7)))?.resource).toBe("gpu.mig");
  expect(mainRow(rows(of("node", 3), of("gpu", 24)))?.resource).toBe("gpu");
  expect(mainRow(rows(of("node", 3)))).toBeNull();
});

it("GPUs and parts of GPUs are summed apart, GPUs first", () => {
  const line = (resource: "gpu" | "gpu.mig", total: number) => ({
    row: { resource },
    split: splitOf({ ...row, total, allocatable: total }),
  });
  const sums = sumsByResource([line("gpu.mig", 7), line("gpu", 96), line("gpu", 4)]);
  expect(sums.map(({ resource, split }) => [resource, split.total])).toEqual([
    ["gpu", 100],
    ["gpu.mig", 7],
  ]);
});

it("what is mine now of a pool is counted by what the pool is measured by", () => {
  const booked = (kind: "gpu.mig" | "disk", count: number) => ({
    ...{ poolId: "pool_a", state: "active" as const, start: 0, end: 10 },
    devices: [{ class: kind, count }],
    gang: null,
  });
  const all = [booked("gpu.mig", 2), booked("disk", 4)];
  const where = { poolId: "pool_a", resource: "gpu.mig", now: 5 };
  expect(mineNow(all, where)).toBe(2);
  expect(mineNow(all, { ...where, now: 10 })).toBe(0);
  expect(mineNow(all, { ...where, poolId: "pool_b" })).toBe(0);
});

it("sums are of every part", () => {
  expect(sumOf([splitOf(row), splitOf(row)])).toMatchObject({ total: 192, down: 12, free: 126 });
});
