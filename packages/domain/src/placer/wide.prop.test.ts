/** Gangs, whole nodes, shared GPUs, unit reservations, spot and pins against the brute-force model. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Node, PlaceRequest, PoolSnapshot, Unit } from "../model.ts";
import { NODE_CAUSES } from "../refusal.ts";
import { PoolState } from "../state/pool-state.ts";
import {
  bruteBlocked,
  bruteCanTake,
  bruteDomains,
  bruteEarliestStart,
  bruteFits,
  bruteIsFree,
  bruteIsSound,
  bruteIsWithheld,
  bruteScalarPeak,
  bruteSize,
  LAST_INSTANT,
  wideArb,
  wideHorizonArb,
} from "../testing/index.ts";
import { earliestStart } from "./earliest-start.ts";
import { place } from "./place.ts";
import type { Candidate } from "./place.ts";

const RUNS = { numRuns: 400 };
const ORDER = [...NODE_CAUSES, "GANG", "EMPTY_POOL"];

test("a request of any kind fits exactly when brute force finds a way", () => {
  fc.assert(
    fc.property(wideArb, ({ snapshot, request }) => {
      const { fits } = place(PoolState.load(snapshot), request);
      expect(fits).toBe(bruteFits(snapshot, request));
    }),
    RUNS,
  );
});

test("as many members as asked for, each whole, on free sound units of its own, in one topology domain", () => {
  fc.assert(
    fc.property(wideArb, ({ snapshot, request }) => {
      const placed = place(PoolState.load(snapshot), request);
      if (!placed.fits) return;
      const { members } = placed;
      expect(members).toHaveLength(bruteSize(request));
      const ids = members.flatMap((member) => member.unitIds);
      expect(new Set(ids).size).toBe(ids.length);
      for (const member of members) checkMember(snapshot, request, member);
      checkTogether(snapshot, request, members);
      expect(placed.candidates.length).toBeLessThanOrEqual(64);
      if (members.length > 1) expect(placed.candidates).toEqual(members);
      else expect(placed.candidates[0]).toEqual(members[0]);
    }),
    RUNS,
  );
});

test("the nodes of a reason add up, node by node as brute force counts them; only who may sees WITHHELD", () => {
  fc.assert(
    fc.property(wideArb, fc.boolean(), ({ snapshot, request }, showWithheld) => {
      const placed = place(PoolState.load(snapshot), request, { showWithheld });
      if (placed.fits) return;
      const { blocked, code, message } = placed.reason;
      const expected = bruteBlocked(snapshot, { ...request, showWithheld });
      expect(new Map(blocked.map(({ cause, nodes }) => [cause, nodes]))).toEqual(expected);
      expect(blocked.reduce((sum, { nodes }) => sum + nodes, 0)).toBe(snapshot.nodes.length);
      const most = Math.max(...expected.values());
      expect(code).toBe(
        ORDER.find((cause) => expected.get(cause as never) === most) ?? "EMPTY_POOL",
      );
      if (!expected.has("GANG")) return;
      const room = Math.max(...bruteDomains(snapshot, request).values());
      expect(message).toContain(`room for ${room} of ${bruteSize(request)} `);
    }),
    RUNS,
  );
});

test("the order of rows changes nothing", () => {
  fc.assert(
    fc.property(wideArb, ({ snapshot, request }) => {
      const mixed: PoolSnapshot = {
        ...snapshot,
        nodes: [...snapshot.nodes].reverse(),
        reservations: [...snapshot.reservations].reverse(),
        unitReservations: [...snapshot.unitReservations].reverse(),
      };
      const placed = place(PoolState.load(snapshot), request);
      expect(place(PoolState.load(mixed), request)).toEqual(placed);
    }),
    { numRuns: 300 },
  );
});

test("the earliest start is the first instant at which trying every instant finds room", () => {
  fc.assert(
    fc.property(wideArb, wideHorizonArb, ({ snapshot, request }, horizonEnd) => {
      const { at, searchedTo } = earliestStart(PoolState.load(snapshot), request, { horizonEnd });
      const exact = bruteEarliestStart(snapshot, request, horizonEnd);
      expect(at).toBe(exact);
      if (at === null) expect(searchedTo).toBe(horizonEnd);
    }),
    RUNS,
  );
});

test("with too few steps the earliest start is null and what was searched, never a wrong instant", () => {
  const budgets = fc.integer({ min: 0, max: 12 });
  fc.assert(
    fc.property(wideArb, budgets, ({ snapshot, request }, stepBudget) => {
      const options = { horizonEnd: LAST_INSTANT, stepBudget };
      const { at, searchedTo } = earliestStart(PoolState.load(snapshot), request, options);
      const exact = bruteEarliestStart(snapshot, request, LAST_INSTANT);
      if (at !== null) expect(at).toBe(exact);
      else if (exact !== null) expect(searchedTo).toBeLessThanOrEqual(exact);
    }),
    { numRuns: 400 },
  );
});

test("of whole nodes no choice has fewer GPUs than the one with the fewest", () => {
  fc.assert(
    fc.property(wideArb, ({ snapshot, request }) => {
      if (request.binding !== "node") return;
      const placed = place(PoolState.load(snapshot), request, { fewestGpus: true });
      const best = place(PoolState.load(snapshot), request);
      if (!placed.fits || !best.fits) return;
      expect(gpusOf(snapshot, placed.members)).toBeLessThanOrEqual(gpusOf(snapshot, best.members));
    }),
    { numRuns: 300 },
  );
});

function gpusOf(snapshot: PoolSnapshot, members: readonly Candidate[]): number {
  const units = new Map(
    snapshot.nodes.flatMap((node) => node.units.map((unit) => [unit.id, unit])),
  );
  const gpus = members.flatMap(({ unitIds }) =>
    unitIds.flatMap((id) => {
      const unit = units.get(id) as Unit;
      return unit.class === "gpu" ? unit.id : (unit.parentUnitId ?? []);
    }),
  );
  return new Set(gpus).size;
}

function checkMember(snapshot: PoolSnapshot, request: PlaceRequest, member: Candidate): void {
  const node = snapshot.nodes.find(({ id }) => id === member.nodeId) as Node;
  expect(node.name).toBe(member.nodeName);
  expect(member.score).toBeGreaterThanOrEqual(0);
  expect(member.score).toBeLessThanOrEqual(1);
  const units = member.unitIds.map((id) => node.units.find((unit) => unit.id === id) as Unit);
  for (const unit of units) {
    expect(bruteIsSound(node, unit)).toBe(true);
    expect(bruteIsFree(snapshot, unit, request)).toBe(true);
    expect(bruteIsWithheld(snapshot, unit, request)).toBe(false);
  }
  if (request.binding === "node") {
    expect(member.unitIds).toEqual(node.units.map((unit) => unit.id));
    return;
  }
  expect(units.length).toBe(request.devices.reduce((sum, line) => sum + line.count, 0));
  expect(bruteCanTake(units, request, true)).toBe(true);
}

function checkTogether(
  snapshot: PoolSnapshot,
  request: PlaceRequest,
  members: readonly Candidate[],
): void {
  const nodes = members.map(({ nodeId }) => snapshot.nodes.find(({ id }) => id === nodeId) as Node);
  const key = request.gang?.topologyKey;
  if (key !== undefined) {
    const values = new Set(nodes.map((node) => node.labels[key]));
    expect(values.size).toBe(1);
    expect(values.has(undefined)).toBe(false);
  }
  if (request.binding === "node") expect(new Set(nodes).size).toBe(nodes.length);
  for (const node of new Set(nodes)) {
    const here = nodes.filter((other) => other === node).length;
    const peak = bruteScalarPeak(snapshot, { node, scalar: "vcpu" }, request);
    expect(peak + here * request.resources.vcpu).toBeLessThanOrEqual(
      Math.max(node.scalars.vcpu, peak),
    );
  }
}
