import { describe, expect, it } from "vitest";
import type { Input } from "@berth/contract";
import { parsedWish } from "../test-kit.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { requestHash } from "./request-hash.ts";

type Wish = Partial<Input<"reservations.create">>;
const hash = (given: Wish = {}) => requestHash(parsedWish(given));

describe("the hash of a create request", () => {
  it.each<[string, Wish]>([
    ["the duration in another notation", { duration: "PT60M" }],
    ["the duration in milliseconds", { duration: 3_600_000 }],
    ["defaults written out", { topology: "any", spot: false, resources: { vcpu: 0 } }],
    [
      "a line's defaults written out",
      {
        devices: [{ count: 1, class: "gpu", sharing: "exclusive", topology: "any", selector: {} }],
      },
    ],
    ["another key", { idempotencyKey: "other" }],
    ["a wish to wait", { wait: { timeoutMs: 5 } }],
  ])("is the same with %s", (_name, given) => {
    expect(hash(given)).toBe(hash());
  });

  it.each<[string, Wish]>([
    ["count", { devices: [{ class: "gpu", count: 2 }] }],
    ["class", { devices: [{ class: "disk", count: 1 }] }],
    [
      "a second line",
      {
        devices: [
          { class: "gpu", count: 1 },
          { class: "disk", count: 1 },
        ],
      },
    ],
    ["start", { start: 1_800_000_000_000 }],
    ["duration", { duration: "2h" }],
    ["spot", { spot: true }],
    ["gang", { gang: { size: 2 } }],
    ["binding", { binding: "node" }],
    ["pool", { poolId: "pool_00000000000000000000000001" }],
    ["project", { projectId: "prj_00000000000000000000000000" }],
    ["lease", { leaseSeconds: 60 }],
    ["resources", { resources: { vcpu: 1 } }],
    ["topology", { topology: "nvlink-all" }],
    ["model", { devices: [{ class: "gpu", count: 1, selector: { model: "H100" } }] }],
    ["labels", { devices: [{ class: "gpu", count: 1, selector: { labels: { rack: "1" } } }] }],
  ])("differs with another %s", (_name, given) => {
    expect(hash(given)).not.toBe(hash());
  });

  it("takes labels and named units in any order", () => {
    const line = (labels: Record<string, string>, unitIds: `unit_${string}`[]): Wish => ({
      devices: [{ class: "gpu", count: 2, selector: { labels, unitIds } }],
    });
    expect(hash(line({ a: "1", b: "2" }, ["unit_b", "unit_a"]))).toBe(
      hash(line({ b: "2", a: "1" }, ["unit_a", "unit_b"])),
    );
  });
});

describe("a list's cursor", () => {
  const ask = { tenantId: "t-a", limit: 50 } as const;
  const last = { createdAt: 1_800_000_000_000, id: "rsv_00000000000000000000000000" } as const;
  const cursor = encodeCursor(ask, last);

  it("leads back to where the page ended, on pages of another size too", () => {
    expect(decodeCursor(ask, cursor)).toEqual(last);
    expect(decodeCursor({ ...ask, limit: 1, include: ["members"] }, cursor)).toEqual(last);
  });

  it("is refused by another tenant's list and by another filter", () => {
    for (const other of [
      { ...ask, tenantId: "t-b" },
      { ...ask, state: ["active" as const] },
      { ...ask, from: 5 },
      { ...ask, projectId: "prj_00000000000000000000000000" as const },
    ])
      expect(() => decodeCursor(other, cursor)).toThrow("cursor");
  });

  it.each(["", "x", "bnVsbA", Buffer.from("[1]").toString("base64url"), `${cursor}A`])(
    "is refused when it is %j",
    (text) => {
      expect(() => decodeCursor(ask, text)).toThrow("cursor");
    },
  );
});
