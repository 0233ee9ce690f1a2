import { describe, expect, it } from "vitest";
import type { DeviceLine, Node, PoolPolicy, Reservation, Unit } from "../model.ts";
import { PoolState } from "../state/pool-state.ts";
import {
  buildConfig,
  buildRequest,
  buildReservation,
  buildSharedNode,
  buildSnapshot,
} from "../testing/index.ts";
import { place } from "./place.ts";

const MIXED = ["7g.80gb"];
const CUT = ["1g.10gb@0", "1g.10gb@1", "2g.20gb@2", "1g.10gb+me@6", "1g.20gb@4"];

interface Given {
  readonly booked?: readonly string[];
  readonly placement?: PoolPolicy["placement"];
  readonly devices: readonly DeviceLine[];
}

/** What a request takes on a node, as `gpu:part`; parts that are booked are named alike. */
function taken(node: Node, sharing: "mig" | "timeslice", given: Given): string[] {
  const name = (unit: Unit): string => {
    const gpu = node.gpus.findIndex(({ id }) => id === unit.parentUnitId);
    const part = unit.profile ? `${unit.profile}@${unit.placement}` : unit.index % 48;
    return `${gpu}:${part}`;
  };
  const held = node.units.filter((unit) => given.booked?.includes(name(unit)));
  const bookings = held.map((unit, n): Reservation =>
    buildReservation(n, { node, unitIds: [unit.id] }, { start: 0, end: 5 }),
  );
  const { placement } = given;
  const config = buildConfig(placement ? { placement } : {}, { sharing });
  const state = PoolState.load(buildSnapshot([node], bookings, config));
  const placed = place(state, buildRequest({ devices: given.devices }));
  if (!placed.fits) throw new Error(placed.reason.message);
  const ids = new Set(placed.candidates[0]?.unitIds);
  return node.units.filter(({ id }) => ids.has(id)).map(name);
}

describe("of MIG instances a booking takes", () => {
  const node = buildSharedNode(0, [CUT, CUT, MIXED]);
  const mig = (count: number, profile?: string) => [
    {
      class: "gpu.mig" as const,
      count,
      ...(profile === undefined ? {} : { selector: { profile } }),
    },
  ];

  it("within a GPU the last start first", () => {
    expect(taken(node, "mig", { devices: mig(1, "1g.10gb") })).toEqual(["0:1g.10gb@1"]);
    expect(taken(node, "mig", { devices: mig(2, "1g.10gb") })).toEqual([
      "0:1g.10gb@0",
      "0:1g.10gb@1",
    ]);
  });

  it("those of the GPU that is most in use, so that whole GPUs stay free", () => {
    const booked = ["1:2g.20gb@2"];
    expect(taken(node, "mig", { devices: mig(1, "1g.10gb"), booked })).toEqual(["1:1g.10gb@1"]);
    expect(taken(node, "mig", { devices: mig(1, "1g.10gb"), booked, placement: "spread" })).toEqual(
      ["0:1g.10gb@1"],
    );
  });

  it("without a profile the smallest that is free, media engines and more compute last", () => {
    expect(taken(node, "mig", { devices: mig(1) })).toEqual(["0:1g.10gb@1"]);
    expect(taken(node, "mig", { devices: mig(5) })).toEqual([
      "0:1g.10gb@0",
      "0:1g.10gb@1",
      "0:1g.10gb+me@6",
      "1:1g.10gb@0",
      "1:1g.10gb@1",
    ]);
    const booked = ["0:1g.10gb@0", "0:1g.10gb@1", "1:1g.10gb@0", "1:1g.10gb@1", "0:1g.10gb+me@6"];
    expect(taken(node, "mig", { devices: mig(2), booked })).toEqual([
      "0:1g.20gb@4",
      "1:1g.10gb+me@6",
    ]);
  });

  it("by memory those that have enough", () => {
    const devices = [{ class: "gpu.mig" as const, count: 1, selector: { memoryGiB: 40 } }];
    expect(taken(node, "mig", { devices })).toEqual(["2:7g.80gb@0"]);
  });
});

describe("of slots a booking takes", () => {
  const node = buildSharedNode(0, [4, 4]);
  const slots = (count: number) => [{ class: "gpu.slot" as const, count }];

  it("one of each GPU as long as there is another GPU, then a second of each", () => {
    expect(taken(node, "timeslice", { devices: slots(2) })).toEqual(["0:0", "1:0"]);
    expect(taken(node, "timeslice", { devices: slots(4) })).toEqual(["0:0", "0:1", "1:0", "1:1"]);
    expect(taken(node, "timeslice", { devices: slots(8) })).toHaveLength(8);
  });

  it("a single one of the GPU that is most in use, or least where the pool spreads", () => {
    const booked = ["1:0"];
    expect(taken(node, "timeslice", { devices: slots(1), booked })).toEqual(["1:1"]);
    expect(taken(node, "timeslice", { devices: slots(1), booked, placement: "spread" })).toEqual([
      "0:0",
    ]);
  });

  it("two of one GPU when the other has none left", () => {
    const booked = ["0:0", "0:1", "0:2", "0:3"];
    expect(taken(node, "timeslice", { devices: slots(2), booked })).toEqual(["1:0", "1:1"]);
  });
});
