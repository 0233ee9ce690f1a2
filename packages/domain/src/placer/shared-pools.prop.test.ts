/** MIG and slot pools against the brute-force model. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Node, Unit } from "../model.ts";
import { recountRollup } from "../rollup/recount.ts";
import { PoolState } from "../state/pool-state.ts";
import {
  LAST_INSTANT,
  bruteCanTake,
  bruteCause,
  bruteEarliestStart,
  bruteIsFree,
  bruteIsSound,
  bruteRollup,
  buildRequest,
  sharedPoolArb,
  sharedRequestArb,
} from "../testing/index.ts";
import { earliestStart } from "./earliest-start.ts";
import { place } from "./place.ts";

const RUNS = { numRuns: 600 };

test("a request of parts fits exactly where brute force finds room, and else for its reasons", () => {
  fc.assert(
    fc.property(sharedPoolArb, sharedRequestArb, (snapshot, request) => {
      const placed = place(PoolState.load(snapshot), request);
      const causes = snapshot.nodes.map((node) => bruteCause(snapshot, node, request));
      const able = snapshot.nodes.filter((_, i) => causes[i] === null).map(({ id }) => id);
      if (placed.fits) {
        expect(placed.candidates.map(({ nodeId }) => nodeId).sort()).toEqual(able.sort());
        return;
      }
      expect(able).toEqual([]);
      const counts = new Map(placed.reason.blocked.map(({ cause, nodes }) => [cause, nodes]));
      const expected = Map.groupBy(causes, (cause) => cause);
      expect(new Set(counts.keys())).toEqual(new Set<unknown>(expected.keys()));
      for (const [cause, list] of expected) expect(counts.get(cause as never)).toBe(list.length);
    }),
    RUNS,
  );
});

test("the parts taken are distinct, free, sound themselves and on a sound GPU, and serve every line", () => {
  fc.assert(
    fc.property(sharedPoolArb, sharedRequestArb, (snapshot, request) => {
      const placed = place(PoolState.load(snapshot), request);
      if (!placed.fits) return;
      for (const { nodeId, unitIds } of placed.candidates) {
        const node = snapshot.nodes.find(({ id }) => id === nodeId) as Node;
        const units = unitIds.map((id) => node.units.find((unit) => unit.id === id) as Unit);
        expect(new Set(unitIds).size).toBe(request.devices.reduce((sum, l) => sum + l.count, 0));
        for (const unit of units) {
          expect(bruteIsSound(node, unit)).toBe(true);
          expect(bruteIsFree(snapshot, unit, request)).toBe(true);
        }
        expect(bruteCanTake(units, request, true)).toBe(true);
      }
    }),
    RUNS,
  );
});

test("slots of one request are of as many GPUs as can be", () => {
  fc.assert(
    fc.property(sharedPoolArb, fc.integer({ min: 1, max: 4 }), (snapshot, count) => {
      const request = buildRequest({ devices: [{ class: "gpu.slot", count }] });
      const placed = place(PoolState.load(snapshot), request);
      if (!placed.fits) return;
      for (const { nodeId, unitIds } of placed.candidates) {
        const node = snapshot.nodes.find(({ id }) => id === nodeId) as Node;
        const free = node.units.filter(
          (u) =>
            u.class === "gpu.slot" && bruteIsSound(node, u) && bruteIsFree(snapshot, u, request),
        );
        const gpusOf = (units: readonly Unit[]): number =>
          new Set(units.map(({ parentUnitId }) => parentUnitId)).size;
        const taken = node.units.filter(({ id }) => unitIds.includes(id));
        expect(gpusOf(taken)).toBe(Math.min(count, gpusOf(free)));
      }
    }),
    RUNS,
  );
});

test("the earliest start of a request of parts is brute force's", () => {
  fc.assert(
    fc.property(sharedPoolArb, sharedRequestArb, (snapshot, request) => {
      const horizonEnd = LAST_INSTANT;
      const found = earliestStart(PoolState.load(snapshot), request, { horizonEnd });
      expect(found.at).toBe(bruteEarliestStart(snapshot, request, horizonEnd));
    }),
    RUNS,
  );
});

test("the rows of parts count a GPU's fault for each of them, as brute force does", () => {
  fc.assert(
    fc.property(sharedPoolArb, (snapshot) => {
      const expected = bruteRollup(snapshot, 0, LAST_INSTANT);
      expect(PoolState.load(snapshot).rollup()).toEqual(expected);
      expect(recountRollup(snapshot, 0)).toEqual(expected);
    }),
    RUNS,
  );
});
