/** What is judged once for many nodes is what each of them would be told by itself, whatever happened to them. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PlaceRequest } from "../model.ts";
import { PoolState } from "../state/pool-state.ts";
import { historyArb, requestArb, unfold, wideArb } from "../testing/index.ts";
import { unitsCause } from "./fit.ts";
import { Judge, type Verdict } from "./judge.ts";
import { planOf } from "./plan.ts";

/** By node, the cause that it shares with those that are alike, and the one that it has alone. */
function causes(state: PoolState, request: PlaceRequest): { shared: unknown[]; alone: unknown[] } {
  const judge = new Judge<Verdict>(state, planOf(state, request), (cause) => ({ cause, nodes: 0 }));
  const shared = state.entries.map((_, at) => judge.look(at, request).cause);
  const alone = state.entries.map((entry) => unitsCause(planOf(state, request), entry, request));
  return { shared, alone };
}

test("in any history of nodes and bookings every node is judged as it would be alone", () => {
  fc.assert(
    fc.property(historyArb, requestArb, (history, request) => {
      const state = PoolState.load(history.start);
      const changes = [];
      for (const { change } of unfold(history)) {
        state.apply(change);
        changes.push(change);
        const { shared, alone } = causes(state, request);
        expect(shared).toEqual(alone);
      }
      for (const change of changes.toReversed()) {
        state.revert(change);
        const { shared, alone } = causes(state, request);
        expect(shared).toEqual(alone);
      }
    }),
    { numRuns: 100 },
  );
});

test("and for requests of any kind, on shared GPUs, ring-fenced units and leases too", () => {
  fc.assert(
    fc.property(wideArb, ({ snapshot, request }) => {
      const { shared, alone } = causes(PoolState.load(snapshot), request);
      expect(shared).toEqual(alone);
    }),
    { numRuns: 400 },
  );
});

test("another window than the one asked for is judged alike, the first time and when it is known", () => {
  fc.assert(
    fc.property(wideArb, fc.nat({ max: 20 }), ({ snapshot, request }, later) => {
      const state = PoolState.load(snapshot);
      const window = { start: request.start + later, end: request.end + later };
      const judge = new Judge<Verdict>(state, planOf(state, request), (cause) => {
        return { cause, nodes: 0 };
      });
      state.entries.forEach((entry, at) => {
        const alone = unitsCause(planOf(state, request), entry, window);
        expect(judge.look(at, window).cause).toBe(alone);
        expect(judge.look(at, window).cause).toBe(alone);
      });
    }),
    { numRuns: 200 },
  );
});
