import { describe, expect, it } from "vitest";
import { someUnit } from "../../../map/test-kit.ts";
import { planOf, planRefusal, readReport } from "./report.ts";
import type { Known } from "./report.ts";

const gpu = (uuid: string, index = 0) => ({ uuid, index, model: "H200" });

describe("readReport", () => {
  it("takes what berth import takes, and the list alone", () => {
    const nodes = [{ name: "gpu-01", gpus: [gpu("GPU-1")] }];
    expect(readReport(JSON.stringify({ nodes }))).toEqual({ ok: true, nodes });
    expect(readReport(JSON.stringify(nodes))).toEqual({ ok: true, nodes });
  });

  it.each([
    ["{", null, /^This is no JSON/],
    ['{"node": []}', null, /neither/],
    ["[]", "nodes", /no node/],
    ['["a"]', "nodes[0]", /no node/],
    ['[{"name": ""}]', "nodes[0].name", /has a name/],
    ['[{"name": "a"}, {"name": "a"}]', "nodes[1].name", /is nodes\[0\] already/],
    ['[{"name": "a", "gpus": {}}]', "nodes[0].gpus", /no list/],
    ['[{"name": "a", "gpus": [{"uuid": "u"}]}]', "nodes[0].gpus[0]", /lacks index, model/],
    [
      JSON.stringify([{ name: "a", gpus: [gpu("u"), gpu("u", 1)] }]),
      "nodes[0].gpus[1].uuid",
      /gpus\[0\]/,
    ],
    [JSON.stringify(Array.from({ length: 501 }, (_, n) => ({ name: `n${n}` }))), "nodes", /501/],
  ])("says of %.60s where it is wrong", (text, where, what) => {
    const report = readReport(text);
    if (report.ok) throw new Error("it was taken");
    expect(report.faults[0]?.where).toBe(where);
    expect(report.faults[0]?.what).toMatch(what);
  });
});

describe("planOf", () => {
  const known = (name: string, uuids: readonly string[]): Known => ({
    id: `node_${name}`,
    name,
    units: uuids.map((gpuUuid, index) => someUnit({ gpuUuid, index })),
  });

  it("tells new machines from known ones, and says what is reported no longer", () => {
    const here = [known("a", ["1", "2"]), known("b", ["3"]), known("c", ["4"])];
    const nodes = [{ name: "a", gpus: [gpu("1")] }, { name: "b", gpus: [gpu("3")] }, { name: "d" }];
    expect(planOf(nodes, here)).toEqual({
      nodes,
      fresh: ["d"],
      known: ["node_a", "node_b"],
      lost: [{ name: "a", gpus: 1 }],
      elsewhere: [],
      untouched: 1,
    });
  });

  it("finds GPUs that another machine has, says which, and is refused for it", () => {
    const here = [known("h100-01", ["1", "2"]), known("h100-02", ["3"])];
    const plan = planOf([{ name: "thief", gpus: [gpu("1"), gpu("2", 1), gpu("9", 2)] }], here);
    expect(plan.elsewhere).toEqual([{ name: "thief", on: "h100-01", gpus: 2 }]);
    expect(planRefusal(plan)).toBe("2 GPUs of thief are on h100-01 already.");
    const both = planOf([{ name: "thief", gpus: [gpu("1"), gpu("3", 1)] }], here);
    expect(planRefusal(both)).toBe("1 GPU of thief is on h100-01 already, and 1 more such.");
  });

  it("a GPU may move to another machine when the report names both", () => {
    const nodes = [{ name: "a" }, { name: "b", gpus: [gpu("1")] }];
    expect(planRefusal(planOf(nodes, [known("a", ["1"]), known("b", [])]))).toBeNull();
  });

  it("a machine that is reported without GPUs loses all of them", () => {
    expect(planOf([{ name: "a" }], [known("a", ["1", "2"])]).lost).toEqual([
      { name: "a", gpus: 2 },
    ]);
  });
});
