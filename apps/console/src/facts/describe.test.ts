import { describe, expect, it } from "vitest";
import { countOf, shortId, togetherText, whatText } from "./describe.ts";

describe("what a reservation is", () => {
  it("is counted over all members of a gang", () => {
    const gang = { size: 2, topologyKey: "rack" };
    const devices = [{ class: "gpu" as const, count: 8 }];
    expect(whatText({ devices, gang })).toBe("16 GPUs on 2 nodes");
    expect(whatText({ devices, gang: null })).toBe("8 GPUs");
    expect(countOf({ devices, gang })).toBe(16);
  });

  it("names parts, slots, other devices and whole nodes", () => {
    const gang = null;
    const mig = [{ class: "gpu.mig" as const, count: 1, selector: { profile: "3g.40gb" } }];
    expect(whatText({ devices: mig, gang })).toBe("1 × 3g.40gb");
    expect(countOf({ devices: mig, gang })).toBe(0);
    expect(countOf({ devices: mig, gang }, "gpu.mig")).toBe(1);
    expect(whatText({ devices: [{ class: "gpu.mig", count: 2 }], gang })).toBe("2 MIG instances");
    expect(whatText({ devices: [{ class: "gpu.slot", count: 1 }], gang })).toBe("1 GPU slot");
    const both = [
      { class: "gpu" as const, count: 1 },
      { class: "nic.vf" as const, count: 2 },
    ];
    expect(whatText({ devices: both, gang })).toBe("1 GPU, 2 NIC functions");
    const nodes = [{ class: "node" as const, count: 1 }];
    expect(whatText({ devices: nodes, gang: { size: 3, topologyKey: null } })).toBe(
      "3 whole nodes",
    );
  });

  it("is added up with others by kind: parts are no GPUs", () => {
    const of = (kind: "gpu" | "gpu.mig", count: number, size: number) => ({
      devices: [{ class: kind, count }],
      gang: { size, topologyKey: null },
    });
    expect(togetherText([of("gpu", 8, 2), of("gpu.mig", 3, 1), of("gpu", 1, 1)])).toBe(
      "17 GPUs and 3 MIG instances",
    );
    expect(togetherText([])).toBeNull();
  });

  it("has a short id that still tells two apart", () => {
    expect(shortId("rsv_01aaaaaaaaaaaaaaaaaak3f9q2")).toBe("rsv_…k3f9q2");
    expect(shortId("odd")).toBe("odd");
  });
});
