/** The placer against the brute-force model, on small pools full of corners. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PlaceRequest, PoolSnapshot, Unit } from "../model.ts";
import { NODE_CAUSES } from "../refusal.ts";
import type { Cause } from "../refusal.ts";
import { PoolState } from "../state/pool-state.ts";
import { bruteCanTake, bruteCause, bruteIsFree, poolArb, requestArb } from "../testing/index.ts";
import { place } from "./place.ts";
import type { Candidate } from "./place.ts";

const RUNS = { numRuns: 800 };

test("a request fits exactly when brute force finds a node for it, on exactly those nodes", () => {
  fc.assert(
    fc.property(poolArb, requestArb, (snapshot, request) => {
      const placement = place(PoolState.load(snapshot), request);
      const able = snapshot.nodes.filter((node) => bruteCause(snapshot, node, request) === null);
      const found = placement.fits ? placement.candidates.map((c) => c.nodeId) : [];
      expect([...found].sort()).toEqual(able.map((node) => node.id).sort());
    }),
    RUNS,
  );
});

test("a candidate's units are distinct, free, healthy, on its node, and serve every line", () => {
  fc.assert(
    fc.property(poolArb, requestArb, (snapshot, request) => {
      const placement = place(PoolState.load(snapshot), request);
      if (!placement.fits) return;
      for (const candidate of placement.candidates) checkCandidate(snapshot, request, candidate);
    }),
    RUNS,
  );
});

test("the nodes of a reason add up, node by node as brute force counts them, and the most-blocking cause leads", () => {
  fc.assert(
    fc.property(poolArb, requestArb, (snapshot, request) => {
      const placement = place(PoolState.load(snapshot), request);
      if (placement.fits) return;
      const { blocked, code, message } = placement.reason;
      const expected = new Map<Cause, number>();
      for (const node of snapshot.nodes) {
        const cause = bruteCause(snapshot, node, request) as Cause;
        expected.set(cause, (expected.get(cause) ?? 0) + 1);
      }
      expect(new Map(blocked.map(({ cause, nodes }) => [cause, nodes]))).toEqual(expected);
      expect(blocked.reduce((sum, { nodes }) => sum + nodes, 0)).toBe(snapshot.nodes.length);
      const most = Math.max(...expected.values());
      const first = NODE_CAUSES.find((cause) => expected.get(cause) === most);
      expect(code).toBe(first ?? "EMPTY_POOL");
      expect(message).toMatch(/^\d+ (gpu|nic\.vf|disk).*: .*nodes?/);
    }),
    RUNS,
  );
});

test("the answer does not depend on the order of rows, and scores fall from first to last", () => {
  fc.assert(
    fc.property(poolArb, requestArb, (snapshot, request) => {
      const nodes = [...snapshot.nodes].reverse();
      const reservations = [...snapshot.reservations].reverse();
      const placement = place(PoolState.load(snapshot), request);
      const again = place(PoolState.load({ ...snapshot, nodes, reservations }), request);
      expect(again).toEqual(placement);
      if (!placement.fits) return;
      const scores = placement.candidates.map((c) => c.score);
      expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
      expect(scores).toEqual([...scores].sort((a, b) => b - a));
    }),
    { numRuns: 300 },
  );
});

test("fewer candidates are the first of more candidates", () => {
  fc.assert(
    fc.property(poolArb, requestArb, (snapshot, request) => {
      const state = PoolState.load(snapshot);
      const all = place(state, request);
      const one = place(state, request, { candidatesMax: 1 });
      if (!all.fits || !one.fits) expect(one).toEqual(all);
      else expect(one.candidates).toEqual(all.candidates.slice(0, 1));
    }),
    { numRuns: 300 },
  );
});

function checkCandidate(snapshot: PoolSnapshot, request: PlaceRequest, candidate: Candidate): void {
  const node = snapshot.nodes.find(({ id }) => id === candidate.nodeId);
  expect(node?.name).toBe(candidate.nodeName);
  const units = candidate.unitIds.map((id) => node?.units.find((unit) => unit.id === id) as Unit);
  expect(new Set(candidate.unitIds).size).toBe(units.length);
  expect(units.length).toBe(request.devices.reduce((sum, line) => sum + line.count, 0));
  for (const unit of units) {
    expect(unit.healthy && !unit.removed).toBe(true);
    expect(bruteIsFree(snapshot, unit, request)).toBe(true);
  }
  expect(bruteCanTake(units, request, true)).toBe(true);
}
