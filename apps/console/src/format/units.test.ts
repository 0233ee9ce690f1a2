import { describe, expect, it } from "vitest";
import { countsText, machineText, resourceCount, unitsText } from "./units.ts";

const of = (kind: string, count: number, parentUnitId: string | null = null) =>
  Array.from({ length: count }, () => ({ class: kind, parentUnitId }));

describe("a number of units", () => {
  it("is said with the noun of what is counted", () => {
    expect(resourceCount(1, "gpu.mig")).toBe("1 MIG instance");
    expect(resourceCount(3, "gpu.slot")).toBe("3 GPU slots");
    expect(resourceCount(2_304, "gpu")).toBe("2,304 GPUs");
    expect(resourceCount(2, "gpu.mig:3g.40gb")).toBe("2 × gpu.mig:3g.40gb");
  });

  it("of several kinds names each, what is booked first", () => {
    const units = [...of("disk", 4), ...of("nic.vf", 16), ...of("gpu", 8)];
    expect(unitsText(units)).toBe("8 GPUs, 16 NIC functions and 4 disks");
    expect(unitsText([])).toBe("no units");
    expect(countsText(new Map([["gpu.mig", 0]]))).toBeNull();
  });

  it("of a machine whose GPUs are cut says on how many GPUs the instances are", () => {
    const cut = [...of("gpu.mig", 3, "one"), ...of("gpu.mig", 4, "other")];
    expect(machineText(cut)).toBe("7 MIG instances on 2 GPUs");
    expect(machineText([...cut, ...of("disk", 1)])).toBe("7 MIG instances on 2 GPUs, with 1 disk");
    expect(machineText([...of("gpu", 8), ...of("nic.vf", 20)])).toBe("8 GPUs and 20 NIC functions");
  });
});
