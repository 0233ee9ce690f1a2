import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_SCALARS } from "./model.ts";
import {
  checkQuota,
  inUse,
  quotaLines,
  requestAmounts,
  resolveCharge,
  withinQuota,
} from "./quota.ts";
import {
  HOUR,
  NOW,
  accepted,
  booking,
  gpuPool,
  poolConfig,
  refused,
  turnOn,
} from "./reservations/test-kit.ts";

const offer = (tenantId: string, includeDescendants: boolean) => ({
  tenantId,
  includeDescendants,
  priority: 0,
});

describe("resolveCharge", () => {
  const config = poolConfig({
    offers: [
      offer("t-direct", false),
      offer("t-top", true),
      offer("t-mid", true),
      offer("t-shut", false),
    ],
  });

  it("charges the owner and an offered tenant to themselves", () => {
    expect(resolveCharge(config, "t-own", [])).toEqual({ tenantId: "t-own", descendant: false });
    expect(resolveCharge(config, "t-direct", ["t-top"])).toEqual({
      tenantId: "t-direct",
      descendant: false,
    });
  });

  it("charges a descendant to the nearest tenant above it that was offered its descendants", () => {
    expect(resolveCharge(config, "t-leaf", ["t-mid", "t-top"])).toEqual({
      tenantId: "t-mid",
      descendant: true,
    });
    expect(resolveCharge(config, "t-leaf", ["t-shut", "t-top"])).toEqual({
      tenantId: "t-top",
      descendant: true,
    });
  });

  it("knows no pool for a stranger, nor below an offer without descendants", () => {
    expect(resolveCharge(config, "t-stranger", ["t-else"])).toBeNull();
    expect(resolveCharge(config, "t-leaf", ["t-shut"])).toBeNull();
  });

  it("lets the owner's descendants in only by an offer to the owner itself", () => {
    expect(resolveCharge(config, "t-child", ["t-own"])).toBeNull();
    const opened = poolConfig({ offers: [offer("t-own", true)] });
    expect(resolveCharge(opened, "t-child", ["t-own"])).toEqual({
      tenantId: "t-own",
      descendant: true,
    });
  });

  it("shows an archived pool to its owner only", () => {
    const archived = poolConfig({ archivedAt: NOW });
    expect(resolveCharge(archived, "t-a", [])).toBeNull();
    expect(resolveCharge(archived, "t-own", [])).not.toBeNull();
  });
});

describe("requestAmounts", () => {
  const request = {
    devices: [
      { class: "gpu" as const, count: 2 },
      { class: "disk" as const, count: 1 },
      { class: "gpu" as const, count: 3 },
    ],
    resources: { vcpu: 8, memoryGiB: 0, hugepages1Gi: 0 },
  };

  it("sums lines of one class and leaves zeros out", () => {
    expect([...requestAmounts({ ...request, gang: null })]).toEqual([
      ["gpu", 5],
      ["disk", 1],
      ["vcpu", 8],
    ]);
  });

  it("counts every member of a gang", () => {
    expect([...requestAmounts({ ...request, gang: { size: 3 } })]).toEqual([
      ["gpu", 15],
      ["disk", 3],
      ["vcpu", 24],
    ]);
  });
});

describe("the windowed quota", () => {
  const row = (resource: string, max: number) => ({ tenantId: "t-a", resource, max });
  const lines = (quotas: ReturnType<typeof row>[], vcpu = 0) => {
    const turn = turnOn(gpuPool(1, 8, { quotas }));
    const amounts = requestAmounts({
      devices: [{ class: "gpu", count: 1 }],
      resources: { ...NO_SCALARS, vcpu },
      gang: null,
    });
    const { config } = turn.state;
    if (!config) throw new Error("no config");
    return quotaLines(turn.state, config, { payer: "t-a", amounts, start: NOW, end: NOW + HOUR });
  };

  it("grants nothing of a unit class without a row, and meters other resources only with one", () => {
    expect(lines([], 4)).toEqual([{ resource: "gpu", max: 0, peak: 0, asked: 1 }]);
    expect(lines([row("gpu", 1), row("vcpu", 3)], 4).map(withinQuota)).toEqual([true, false]);
  });

  it("tells a descendant only what remains", () => {
    const over = [{ resource: "gpu" as const, max: 4, peak: 3, asked: 2 }];
    const facts = { code: "QUOTA_EXCEEDED", resource: "gpu", requested: 2 };
    expect(refused(checkQuota(over, { tenantId: "t-up", descendant: true }))).toEqual({
      ...facts,
      max: null,
      peak: null,
      remaining: 1,
    });
    expect(refused(checkQuota(over, { tenantId: "t-a", descendant: false }))).toEqual({
      ...facts,
      max: 4,
      peak: 3,
      remaining: null,
    });
  });

  it("counts the peak inside the window, as a count at every instant does", () => {
    const window = fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 10 }));
    fc.assert(
      fc.property(fc.array(window, { maxLength: 8 }), window, (booked, [from, length]) => {
        const turn = turnOn(gpuPool(booked.length + 1, 1));
        booked.forEach(([at, lasts], node) =>
          turn.apply({
            kind: "reservation",
            before: null,
            after: booking({
              id: `rsv_${String(node).padStart(26, "0")}`,
              onNode: node,
              start: NOW + at,
              end: NOW + at + lasts,
            }),
          }),
        );
        const usedAt = (t: number): number =>
          booked.filter(([at, lasts]) => at <= t && t < at + lasts).length;
        const instants = (start: number, end: number): number[] =>
          Array.from({ length: end - start }, (_, i) => usedAt(start + i));
        const peak = turn.state.usage("t-a", "gpu")?.peak(NOW + from, NOW + from + length) ?? 0;
        expect(peak).toBe(Math.max(0, ...instants(from, from + length)));
        expect(inUse(turn.state, NOW + from, { tenantId: "t-a", resource: "gpu" })).toBe(
          Math.max(0, ...instants(from, 40)),
        );
      }),
    );
  });

  it("lets the same amount be booked on one day and on the next", () => {
    const turn = turnOn(gpuPool(1, 8));
    turn.apply({ kind: "reservation", before: null, after: booking({ gpus: 8 }) });
    const { config } = turn.state;
    if (!config) throw new Error("no config");
    const amounts = requestAmounts({
      devices: [{ class: "gpu", count: 8 }],
      resources: NO_SCALARS,
      gang: null,
    });
    const ask = (start: number) =>
      quotaLines(
        turn.state,
        { ...config, quotas: [row("gpu", 8)] },
        { payer: "t-a", amounts, start, end: start + HOUR },
      );
    const charge = { tenantId: "t-a", descendant: false };
    accepted(checkQuota(ask(NOW + HOUR), charge));
    expect(refused(checkQuota(ask(NOW + HOUR - 1), charge))).toMatchObject({ max: 8, peak: 8 });
  });
});
