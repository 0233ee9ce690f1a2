import { describe, expect, it } from "vitest";
import { memoryOf, modelName, profileRank, reportedTable, slicesOf, tablesOf } from "./table.ts";

/** The profile of the whole GPU tells the part. */
const wholeOf = (model: string): string | undefined => {
  const tables = tablesOf(model);
  return tables.length === 1 ? tables[0]?.at(-1)?.profile : undefined;
};

describe("the part of a model", () => {
  it.each([
    ["NVIDIA A100-SXM4-40GB", "7g.40gb"],
    ["NVIDIA A100-PCIE-40GB", "7g.40gb"],
    ["A100-40", "7g.40gb"],
    ["NVIDIA A100-SXM4-80GB", "7g.80gb"],
    ["NVIDIA A100 80GB PCIe", "7g.80gb"],
    ["NVIDIA-A100-SXM4-80GB", "7g.80gb"],
    ["NVIDIA A800-SXM4-80GB", "7g.80gb"],
    ["NVIDIA H100 80GB HBM3", "7g.80gb"],
    ["NVIDIA H100 PCIe", "7g.80gb"],
    ["h100", "7g.80gb"],
    ["NVIDIA H100 NVL", "7g.94gb"],
    ["H100-94", "7g.94gb"],
    ["H100-96", "7g.96gb"],
    ["NVIDIA H20", "7g.96gb"],
    ["NVIDIA GH200 480GB", "7g.96gb"],
    ["NVIDIA GH200 144G HBM3e", "7g.144gb"],
    ["NVIDIA H200", "7g.141gb"],
    ["NVIDIA H200 NVL", "7g.141gb"],
    ["NVIDIA B200", "7g.180gb"],
    ["B200 192GB", "7g.180gb"],
    ["NVIDIA GB200", "7g.186gb"],
    ["NVIDIA B300 SXM6 AC", "7g.269gb"],
    ["NVIDIA GB300", "7g.278gb"],
    ["NVIDIA A30", "4g.24gb"],
    ["Tesla A30-24", "4g.24gb"],
  ])("%s is found whatever its maker, case and dashes", (model, whole) => {
    expect(wholeOf(model)).toBe(whole);
    expect(wholeOf(model.toUpperCase())).toBe(whole);
  });

  it.each([
    "A100-PG509-200",
    "A100-SXM-64GB",
    "NVIDIA H20-3e",
    "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
    "GRID A100-4C",
    "NVIDIA RTX PRO 6000 Blackwell Server Edition",
    "NVIDIA L40S",
    "Tesla V100-SXM2-32GB",
    "nvidia",
    "",
  ])("%s has no table", (model) => {
    expect(tablesOf(model)).toEqual([]);
  });

  it("whose name leaves the memory open is told by the memory, where that is known", () => {
    expect(tablesOf("NVIDIA A100")).toHaveLength(2);
    expect(tablesOf("A100", 40)).toEqual(tablesOf("A100-40GB"));
    expect(tablesOf("A100", 80)).toEqual(tablesOf("A100-80GB"));
    expect(tablesOf("A100", 64)).toEqual([]);
    // A name that says it is believed.
    expect(tablesOf("H100 NVL", 80)).toEqual(tablesOf("H100-94"));
  });
});

it("names of one model are equal without maker, case and dashes, and of two models are not", () => {
  expect(modelName("NVIDIA-H100-80GB-HBM3")).toBe(modelName("nvidia h100 80gb hbm3"));
  expect(modelName("H100 80GB HBM3")).toBe(modelName("NVIDIA H100 80GB HBM3"));
  expect(modelName("H100 NVL")).not.toBe(modelName("H100"));
});

it("a profile's memory is in its name", () => {
  expect(["1g.5gb", "1g.10gb+me", "7g.141gb", "odd"].map(memoryOf)).toEqual([5, 10, 141, null]);
});

it("less is ranked before more: memory, then compute, then media engines", () => {
  const profiles = ["7g.80gb", "4g.40gb", "3g.40gb", "2g.20gb", "1g.20gb", "1g.10gb+me", "1g.10gb"];
  expect(profiles.toSorted((a, b) => profileRank(a) - profileRank(b))).toEqual(
    profiles.toReversed(),
  );
});

it("a reported table is read from the small profile to the large, each from its last start down", () => {
  const table = reportedTable([
    { profile: "4g.96gb", size: 4, starts: [0] },
    { profile: "1g.24gb", size: 1, starts: [0, 1, 2, 3] },
  ]);
  expect(table).toEqual([
    { profile: "1g.24gb", size: 1, starts: [3, 2, 1, 0] },
    { profile: "4g.96gb", size: 4, starts: [0] },
  ]);
  expect(slicesOf(table)).toBe(4);
});
