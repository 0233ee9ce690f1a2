import type { NodeSchedule, Span, UnitSchedule } from "@berth/client";
import { describe, expect, it } from "vitest";
import { isRuledOut, isTold } from "./cause.ts";
import { someNode, someUnit } from "./test-kit.ts";

const gpu = (spans: Span[] = [], healthy = true): UnitSchedule => someUnit({ spans, healthy });

const node = (units: UnitSchedule[], given: Partial<NodeSchedule> = {}): NodeSchedule =>
  someNode({ units, ...given });

const busy = (start: number, end: number): Span => ({
  kind: "busy",
  start,
  end,
  reservationId: null,
});
const ask = { start: 10, end: 20, gpus: 2 };
const causeOf = (given: NodeSchedule): string[] =>
  ["NODE_STATE", "MAINTENANCE", "COUNT", "UNHEALTHY", "WITHHELD", "BUSY", "GANG"].filter((cause) =>
    isRuledOut(cause, given, ask),
  );

describe("the nodes behind a cause", () => {
  it("are counted under one cause each; one that takes a member fails the gang alone", () => {
    expect(causeOf(node([gpu(), gpu()]))).toEqual(["GANG"]);
    expect(causeOf(node([gpu(), gpu()], { state: "unhealthy" }))).toEqual(["NODE_STATE"]);
    expect(causeOf(node([gpu()]))).toEqual(["COUNT"]);
    expect(causeOf(node([gpu(), gpu([], false)]))).toEqual(["UNHEALTHY"]);
    const kept: Span = { kind: "withheld", start: 0, end: 11, reservationId: null };
    expect(causeOf(node([gpu(), gpu([kept])]))).toEqual(["WITHHELD"]);
    // Too few GPUs comes first, whatever the node's state.
    expect(causeOf(node([gpu()], { state: "maintenance" }))).toEqual(["COUNT"]);
    const window = { id: "mnt", from: 19, to: 30 };
    expect(causeOf(node([gpu(), gpu()], { maintenance: [window] }))).toEqual(["MAINTENANCE"]);
  });

  it("are busy when too few GPUs are free for the whole window, to the millisecond", () => {
    expect(causeOf(node([gpu(), gpu([busy(0, 10), busy(20, 30)])]))).toEqual(["GANG"]);
    expect(causeOf(node([gpu(), gpu([busy(19, 21)])]))).toEqual(["BUSY"]);
  });

  it("are all of them for a cause that only the placer can tell", () => {
    expect(isTold("TOPOLOGY_KEY")).toBe(false);
    expect(isRuledOut("TOPOLOGY_KEY", node([gpu(), gpu()]), ask)).toBe(true);
  });
});
