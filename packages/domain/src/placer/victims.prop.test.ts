/** Victims against every set that could be sent away. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PlaceRequest, Reservation } from "../model.ts";
import { PoolState } from "../state/pool-state.ts";
import {
  buildConfig,
  buildNode,
  buildRequest,
  buildReservation,
  buildSnapshot,
} from "../testing/index.ts";
import { place } from "./place.ts";
import { comparePriority, findVictims, without } from "./victims.ts";

const NODES = 2;
const GPUS = 4;
const TENANTS = ["t-a", "t-b", "t-own"] as const;

const drawArb = fc.record({
  node: fc.nat(NODES - 1),
  first: fc.nat(GPUS - 1),
  count: fc.integer({ min: 1, max: 3 }),
  start: fc.integer({ min: -2, max: 12 }),
  length: fc.integer({ min: 1, max: 14 }),
  spot: fc.boolean(),
  tenant: fc.constantFrom(...TENANTS),
  createdAt: fc.nat(3),
  vcpu: fc.constantFrom(0, 0, 30),
});
type Draw = typeof drawArb extends fc.Arbitrary<infer T> ? T : never;

const poolArb = fc.array(drawArb, { maxLength: 9 });
const requestArb = fc.record({
  lines: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 2 }),
  start: fc.nat(8),
  length: fc.integer({ min: 1, max: 10 }),
  linked: fc.boolean(),
  vcpu: fc.constantFrom(0, 0, 70),
});

const config = buildConfig(
  {},
  { offers: [{ tenantId: "t-a", includeDescendants: false, priority: 5 }] },
);
const nodes = Array.from({ length: NODES }, (_, n) => buildNode(n, { gpus: GPUS, domainOf: 2 }));

/** Draws that clash with those before them, or take more vcpu than there is, are left out. */
function pool(draws: readonly Draw[]): PoolState {
  const kept: Reservation[] = [];
  for (const [n, draw] of draws.entries()) {
    const node = nodes[draw.node] as (typeof nodes)[number];
    const unitIds = node.units.slice(draw.first, draw.first + draw.count).map(({ id }) => id);
    const [start, end] = [draw.start, draw.start + draw.length];
    const resources = { vcpu: draw.vcpu, memoryGiB: 0, hugepages1Gi: 0 };
    const beside = kept.filter((r) => r.start < end && r.end > start);
    const held = new Set(beside.flatMap((r) => r.members.flatMap((m) => m.unitIds)));
    const here = beside.filter((r) => r.members[0]?.nodeId === node.id);
    const used = here.reduce<number>((sum, r) => sum + r.resources.vcpu, draw.vcpu);
    if (unitIds.some((id) => held.has(id)) || used > node.scalars.vcpu) continue;
    const who = { tenantId: draw.tenant, chargedTenantId: draw.tenant };
    const more = { start, end, spot: draw.spot, createdAt: draw.createdAt, resources, ...who };
    kept.push(buildReservation(n, { node, unitIds }, more));
  }
  return PoolState.load(buildSnapshot(nodes, kept, config));
}

function asked(draw: typeof requestArb extends fc.Arbitrary<infer T> ? T : never): PlaceRequest {
  return buildRequest({
    devices: draw.lines.map((count) => ({ class: "gpu" as const, count })),
    topology: draw.linked ? "nvlink-all" : "any",
    resources: { vcpu: draw.vcpu, memoryGiB: 0, hugepages1Gi: 0 },
    start: draw.start,
    end: draw.start + draw.length,
  });
}

/** Spot reservations that hold something in the window. */
function overlapping(state: PoolState, { start, end }: PlaceRequest): Reservation[] {
  return [...state.preemptible().values()].filter((r) => r.start < end && r.end > start);
}

/** The best of all sets that make room: the fewest, then by who goes first, the most precious compared first. */
function bruteVictims(state: PoolState, request: PlaceRequest): string[] | null {
  const spot = overlapping(state, request).sort(comparePriority(config));
  let best: number[] | null = null;
  for (let set = 1; set < 1 << spot.length; set += 1) {
    const places = spot.flatMap((_, i) => (set & (1 << i) ? [i] : []));
    if (best && places.length > best.length) continue;
    const gone = places.map((i) => spot[i] as Reservation);
    const fits = without(state, { gone, from: request.start }, () => place(state, request).fits);
    if (!fits || (best && places.length === best.length && !sooner(places, best))) continue;
    best = places;
  }
  return best && best.map((i) => (spot[i] as Reservation).id).sort();
}

function sooner(a: readonly number[], b: readonly number[]): boolean {
  for (let i = a.length - 1; i >= 0; i -= 1)
    if (a[i] !== b[i]) return (a[i] as number) < (b[i] as number);
  return false;
}

test("on one node the victims are the fewest, then those least worth keeping, by every set there is", () => {
  fc.assert(
    fc.property(poolArb, requestArb, (draws, draw) => {
      const state = pool(draws);
      const request = asked(draw);
      fc.pre(!place(state, request).fits);
      const found = findVictims(state, request);
      expect(found && found.victims.map(({ id }) => id).sort()).toEqual(
        bruteVictims(state, request),
      );
      if (found) expect(found.exact).toBe(true);
    }),
    { numRuns: 400 },
  );
});

test("a gang's victims make room, and none of them could have stayed", () => {
  fc.assert(
    fc.property(
      poolArb,
      fc.integer({ min: 2, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      (draws, size, count) => {
        const state = pool(draws);
        const request = buildRequest({ devices: [{ class: "gpu", count }], gang: { size } });
        fc.pre(!place(state, request).fits);
        const found = findVictims(state, request);
        const spot = overlapping(state, request);
        const fitsWithout = (gone: readonly Reservation[]): boolean =>
          without(state, { gone, from: request.start }, () => place(state, request).fits);
        if (!found) {
          expect(fitsWithout(spot)).toBe(false);
          return;
        }
        expect(fitsWithout(found.victims)).toBe(true);
        for (const one of found.victims)
          expect(fitsWithout(found.victims.filter((v) => v !== one))).toBe(false);
      },
    ),
    { numRuns: 150 },
  );
});

test("of however many in the way of a gang, whoever could stay does", () => {
  const many = Array.from({ length: 64 }, (_, n) => buildNode(n, { gpus: 8 }));
  const resources = { vcpu: 1, memoryGiB: 0, hugepages1Gi: 0 };
  const spots = many.flatMap((node, n) =>
    node.units.map(({ id }, i) => {
      const more = { start: 0, end: 100, spot: true, createdAt: n * 8 + i, resources };
      return buildReservation(n * 8 + i, { node, unitIds: [id] }, more);
    }),
  );
  const state = PoolState.load(buildSnapshot(many, spots, config));
  // Scalars put everybody on a node in the way; 5 of the 8 GPUs are all that is missing there.
  const devices = [{ class: "gpu" as const, count: 5 }];
  const request = buildRequest({ devices, resources, gang: { size: 64 }, start: 10, end: 20 });

  const victims = findVictims(state, request)?.victims ?? [];

  const perNode = Map.groupBy(victims, ({ members }) => members[0]?.nodeId);
  expect([...perNode.values()].map(({ length }) => length)).toEqual(many.map(() => 5));
});

test("whoever is over by the instant from which others hold nothing is left as it is", () => {
  const [node] = nodes as [(typeof nodes)[number]];
  const unitIds = node.units.slice(0, 1).map(({ id }) => id);
  const over = buildReservation(1, { node, unitIds }, { start: 0, end: 5, spot: true });
  const next = buildReservation(2, { node, unitIds }, { start: 5, end: 9, spot: false });
  const state = PoolState.load(buildSnapshot(nodes, [over, next], config));
  const ends = without(state, { gone: [over], from: 8 }, () => state.reservation(over.id)?.end);
  expect(ends).toBe(5);
});

test("looking for victims leaves the state as it was", () => {
  fc.assert(
    fc.property(poolArb, requestArb, (draws, draw) => {
      const state = pool(draws);
      const before = [...state.reservations()].map((r) => [
        r,
        state.bookingsOf(r.members[0]!.unitIds[0]!),
      ]);
      const rows = state.rollup();
      findVictims(state, asked(draw));
      const after = [...state.reservations()].map((r) => [
        r,
        state.bookingsOf(r.members[0]!.unitIds[0]!),
      ]);
      expect(after).toEqual(before);
      expect(state.rollup()).toEqual(rows);
    }),
    { numRuns: 100 },
  );
});
