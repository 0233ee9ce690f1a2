/** How many members a node's units take, against trying every way, where lines compete for linked GPUs. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { DeviceLine, PlaceRequest, Topology } from "../model.ts";
import { PoolState } from "../state/pool-state.ts";
import {
  bruteMembers,
  buildNode,
  buildRequest,
  buildSnapshot,
  buildUnit,
} from "../testing/index.ts";
import { place } from "./place.ts";

const unitArb = fc.record({
  class: fc.constant("gpu" as const),
  memoryGiB: fc.constantFrom(40, 80),
  nvlinkDomain: fc.constantFrom("d0", "d1", "d2", null),
});

const lineArb: fc.Arbitrary<DeviceLine> = fc.record({
  class: fc.constant("gpu" as const),
  count: fc.constantFrom(1, 2, 2, 3),
  topology: fc.constantFrom<Topology>("any", "nvlink-all"),
  selector: fc.constantFrom(undefined, undefined, { memoryGiB: 80 }),
});

const requestArb: fc.Arbitrary<PlaceRequest> = fc
  .array(lineArb, { minLength: 1, maxLength: 3 })
  .map((devices) => buildRequest({ devices }));

test("a node takes a gang up to the size for which trying every way finds room, and no larger one", () => {
  fc.assert(
    fc.property(fc.array(unitArb, { minLength: 4, maxLength: 11 }), requestArb, (traits, hold) => {
      const units = traits.map((unit, i) => buildUnit(0, i, unit));
      const snapshot = buildSnapshot([buildNode(0, {}, { units })]);
      const [node] = snapshot.nodes;
      if (!node) throw new Error("no node");
      const gang = (size: number): PlaceRequest => ({ ...hold, gang: { size } });
      const most = bruteMembers(snapshot, node, gang(6));
      const state = PoolState.load(snapshot);
      for (const size of [2, 3, 4, 5]) expect(place(state, gang(size)).fits).toBe(size <= most);
    }),
    { numRuns: 300 },
  );
});
