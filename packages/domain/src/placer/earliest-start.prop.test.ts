/** The earliest start against trying every instant. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Node } from "../model.ts";
import { PoolState } from "../state/pool-state.ts";
import {
  bruteEarliestStart,
  buildNode,
  buildRequest,
  buildReservation,
  buildSnapshot,
  LAST_INSTANT,
  poolArb,
  requestArb,
} from "../testing/index.ts";
import { earliestStart, earliestStartSteps } from "./earliest-start.ts";

const horizons = fc.integer({ min: 0, max: LAST_INSTANT + 5 });

test("it is the first instant at which trying every instant finds room, and null when none does", () => {
  fc.assert(
    fc.property(poolArb, requestArb, horizons, (snapshot, request, horizonEnd) => {
      const { at } = earliestStart(PoolState.load(snapshot), request, { horizonEnd });
      expect(at).toBe(bruteEarliestStart(snapshot, request, horizonEnd));
    }),
    { numRuns: 800 },
  );
});

test("with too few steps it answers null and what it searched, never a wrong instant", () => {
  const budgets = fc.integer({ min: 0, max: 12 });
  fc.assert(
    fc.property(poolArb, requestArb, budgets, (snapshot, request, stepBudget) => {
      const options = { horizonEnd: LAST_INSTANT, stepBudget };
      const { at, searchedTo } = earliestStart(PoolState.load(snapshot), request, options);
      const exact = bruteEarliestStart(snapshot, request, LAST_INSTANT);
      if (at !== null) expect(at).toBe(exact);
      else if (exact !== null) expect(searchedTo).toBeLessThanOrEqual(exact);
    }),
    { numRuns: 500 },
  );
});

test("a state that changes during a pause is searched anew", () => {
  const node = buildNode(0, { gpus: 1 });
  const unitIds = node.units.map((unit) => unit.id);
  const bookings = Array.from({ length: 2_000 }, (_, n) =>
    // One free instant after each, too short for the request.
    buildReservation(n, { node, unitIds }, { start: n * 10, end: n * 10 + 9 }),
  );
  const others = Array.from({ length: 600 }, (_, n) => buildNode(n + 1, { gpus: 1 }));
  const held = others.map((other, n) =>
    buildReservation(
      5_000 + n,
      { node: other, unitIds: other.units.map((unit) => unit.id) },
      { start: 0, end: 90_000 },
    ),
  );
  const state = PoolState.load(buildSnapshot([node, ...others], [...bookings, ...held]));
  const request = buildRequest({ start: 0, end: 5 });
  const steps = earliestStartSteps(state, request, { horizonEnd: 80_000 });
  expect(steps.next().done).toBe(false);
  const first = held[0];
  if (!first) throw new Error("no booking");
  state.apply({ kind: "reservation", before: first, after: { ...first, state: "released" } });
  const answer = steps.next();
  expect(answer).toEqual({ done: true, value: { at: 0, searchedTo: 0 } });
});

test("when the choice of NVLink domains is too large to search, it answers null, not a later instant", () => {
  // Eight lines of 3 and seven domains that hold one line each, no two alike: never fits, hard to tell.
  const memory = [10, 20, 30, 40, 10, 20, 30];
  const sizes = [3, 4, 5, 3, 4, 5, 4];
  const domains = sizes.flatMap((size, domain) => Array.from({ length: size }, () => domain));
  const hard = buildNode(0, { gpus: domains.length });
  const units = hard.units.map((unit, i) => {
    const domain = domains[i] as number;
    return { ...unit, nvlinkDomain: `d${domain}`, memoryGiB: memory[domain] as number };
  });
  const easy = buildNode(1, { gpus: 24 });
  const unitIds = easy.units.map((unit) => unit.id);
  const booked = buildReservation(1, { node: easy, unitIds }, { start: 0, end: 10 });
  const line = { class: "gpu" as const, count: 3, topology: "nvlink-all" as const };
  const devices = [10, 10, 10, 10, 10, 20, 30, 40].map((memoryGiB) => ({
    ...line,
    selector: { memoryGiB },
  }));
  const request = buildRequest({ devices });
  const search = (nodes: readonly Node[]) =>
    earliestStart(PoolState.load(buildSnapshot(nodes, [booked])), request, { horizonEnd: 20 });
  expect(search([easy])).toEqual({ at: 10, searchedTo: 10 });
  expect(search([{ ...hard, units }, easy])).toEqual({ at: null, searchedTo: 0 });
});
