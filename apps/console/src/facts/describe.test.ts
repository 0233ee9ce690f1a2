import { describe, expect, it } from "vitest";
import { gpusOf, shortId, whatText } from "./describe.ts";

describe("what a reservation is", () => {
  it("is counted over all members of a gang", () => {
    const gang = { size: 2, topologyKey: "rack" };
    const devices = [{ class: "gpu" as const, count: 8 }];
    expect(whatText({ devices, gang })).toBe("16 GPUs on 2 nodes");
    expect(whatText({ devices, gang: null })).toBe("8 GPUs");
    expect(gpusOf({ devices, gang })).toBe(16);
  });

  it("names parts, slots, other devices and whole nodes", () => {
    const gang = null;
    const mig = [{ class: "gpu.mig" as const, count: 1, selector: { profile: "3g.40gb" } }];
    expect(whatText({ devices: mig, gang })).toBe("1 × 3g.40gb");
    expect(gpusOf({ devices: mig, gang })).toBeNull();
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

  it("has a short id that still tells two apart", () => {
    expect(shortId("rsv_01aaaaaaaaaaaaaaaaaak3f9q2")).toBe("rsv_…k3f9q2");
    expect(shortId("odd")).toBe("odd");
  });
});
