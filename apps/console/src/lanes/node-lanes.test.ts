import type { NodeSchedule, Span, UnitSchedule } from "@berth/client";
import { describe, expect, it } from "vitest";
import { someNode, someUnit } from "../map/test-kit.ts";
import { laneOfNode, nodeLanes } from "./node-lanes.ts";

const unit = (id: string, given: Partial<UnitSchedule> = {}): UnitSchedule =>
  someUnit({ id, ...given });

const node = (name: string, units: UnitSchedule[]): NodeSchedule =>
  someNode({ id: `node_${name}`, name, units, labels: {} });

const mine: Span = { kind: "mine", start: 0, end: 10, reservationId: "rsv_a" };
const busy: Span = { kind: "busy", start: 0, end: 10, reservationId: null };

describe("a node's lane", () => {
  it("has one bar for the units of one booking, and counts GPUs alone", () => {
    const lane = laneOfNode(
      node("n", [
        unit("a", { spans: [mine] }),
        unit("b", { spans: [mine] }),
        unit("nic", { class: "nic.vf", spans: [mine] }),
        unit("c", { spans: [busy] }),
      ]),
      new Map(),
    );
    expect(
      lane.spans.map(({ kind, label, reservationId }) => ({ kind, label, reservationId })),
    ).toEqual([
      { kind: "mine", label: "2 GPUs", reservationId: "rsv_a" },
      { kind: "booked", label: "1 GPU", reservationId: null },
    ]);
  });

  it("says what it is where no whole GPU is taken", () => {
    const label = (units: UnitSchedule[]): string | undefined =>
      laneOfNode(node("n", units), new Map()).spans[0]?.label;
    const mig = { class: "gpu.mig", profile: "3g.40gb", spans: [busy] } as const;
    expect(label([unit("a", { ...mig, spans: [busy] })])).toBe("3g.40gb");
    expect(
      label([unit("a", { ...mig, spans: [busy] }), unit("b", { ...mig, spans: [busy] })]),
    ).toBe("2 MIG instances");
    expect(label([unit("a", { class: "disk", spans: [busy] })])).toBe("1 disk");
  });

  it("stands among others as people count", () => {
    const lanes = nodeLanes([node("n-10", []), node("n-9", [])], new Map());
    expect(lanes.map(({ label }) => label)).toEqual(["n-9", "n-10"]);
  });
});
