import type { QuotedShape } from "@berth/client";
import { describe, expect, it } from "vitest";
import { COUNTS, PLACES, gpusPerNode, ladderSteps, verdictOf } from "./ladder.ts";

const at = (count: number, place: string, perNode = 8) =>
  ladderSteps(perNode).find((step) => step.count === count && step.place === place);

describe("the cells of the ladder", () => {
  it("are all counts by all places, and fit in one quote with its alternatives", () => {
    expect(ladderSteps(8)).toHaveLength(COUNTS.length * PLACES.length);
    expect(ladderSteps(64).filter(({ shape }) => shape !== null).length).toBeLessThanOrEqual(16);
  });

  it("spread over nodes of one rack as the client's gpus() does", () => {
    expect(at(32, "rack")?.shape).toEqual({
      topology: "any",
      devices: [{ class: "gpu", count: 8 }],
      gang: { size: 4, topologyKey: "rack" },
    });
    expect(at(8, "rack", 4)?.shape?.gang).toEqual({ size: 2, topologyKey: "rack" });
  });

  it("ask for one NVLink domain by its topology", () => {
    expect(at(8, "nvlink")?.shape).toEqual({
      topology: "nvlink-all",
      devices: [{ class: "gpu", count: 8 }],
    });
  });

  it("cannot be more than a node has, and say so", () => {
    expect(at(16, "node")).toMatchObject({ shape: null, words: "A node of this pool has 8 GPUs" });
    expect(at(16, "node", 16)?.shape).not.toBeNull();
  });
});

describe("GPUs of one node", () => {
  it("are the pool's GPUs over its nodes, rounded up", () => {
    const rows = (gpu: number, node: number) => [
      { resource: "gpu", total: gpu },
      { resource: "node", total: node },
    ];
    expect(gpusPerNode(rows(96, 12))).toBe(8);
    expect(gpusPerNode(rows(13, 4))).toBe(4);
    expect(gpusPerNode(rows(0, 0))).toBe(8);
    expect(gpusPerNode([])).toBe(8);
  });
});

describe("a verdict", () => {
  const quoted = (preview: object, quota: object = { ok: true, rows: [] }): QuotedShape => ({
    preview: {
      fits: false,
      start: 0,
      end: 1,
      candidates: [],
      reason: null,
      preemptible: null,
      earliestStart: null,
      searchedTo: 99,
      asOf: 0,
      ...preview,
    },
    quota: { ok: true, rows: [], ...quota },
  });

  it("is now, later, or never as far as was looked", () => {
    expect(verdictOf(quoted({ fits: true }))).toEqual({ kind: "now" });
    expect(verdictOf(quoted({ earliestStart: 7 }))).toEqual({ kind: "later", at: 7 });
    expect(verdictOf(quoted({}))).toMatchObject({ kind: "never", searchedTo: 99 });
  });

  it("names spot bookings that would make way before a later time", () => {
    const preemptible = { count: 2, startsAt: 5, exact: true };
    expect(verdictOf(quoted({ preemptible, earliestStart: 7 }))).toEqual({
      kind: "preempts",
      at: 5,
      count: 2,
    });
  });

  it("is the quota's where that is what is in the way, with what is left", () => {
    const row = { resource: "gpu", max: 8, peak: 6, remaining: null, asked: 4 };
    expect(verdictOf(quoted({ fits: true }, { ok: false, rows: [row] }))).toEqual({
      kind: "quota",
      words: "Your quota leaves 2 in this time",
    });
    const others = { resource: "gpu", max: null, peak: null, remaining: 1, asked: 4 };
    expect(verdictOf(quoted({}, { ok: false, rows: [others] }))).toMatchObject({
      words: "Your quota leaves 1 in this time",
    });
  });
});
