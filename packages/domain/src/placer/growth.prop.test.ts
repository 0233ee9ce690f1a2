/** The learnt mix against one counted anew, and the bound that ends a walk early against every node. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_SCALARS } from "../model.ts";
import type { Node, Reservation } from "../model.ts";
import { PoolState } from "../state/pool-state.ts";
import {
  buildConfig,
  buildNode,
  buildRequest,
  buildReservation,
  buildSnapshot,
} from "../testing/index.ts";
import { bestScore } from "./growth.ts";
import { place } from "./place.ts";
import { planOf } from "./plan.ts";

const NODES = 4;
const GPUS = 6;
const nodes = Array.from({ length: NODES }, (_, n) =>
  buildNode(n, { gpus: n % 2 === 0 ? GPUS : GPUS - 2, domainOf: 2 }),
);

const drawArb = fc.record({
  node: fc.nat(NODES - 1),
  first: fc.nat(GPUS - 1),
  count: fc.integer({ min: 1, max: 4 }),
  start: fc.nat(12),
  length: fc.integer({ min: 1, max: 14 }),
  vcpu: fc.constantFrom(0, 4, 30),
  model: fc.constantFrom(undefined, "H100", "A100"),
  members: fc.constantFrom(null, null, 2),
});
type Draw = typeof drawArb extends fc.Arbitrary<infer T> ? T : never;

function reservationOf(draw: Draw, n: number): Reservation {
  const node = nodes[draw.node] as Node;
  const unitIds = node.units.slice(draw.first, draw.first + draw.count).map(({ id }) => id);
  const { start, length, vcpu, model, members } = draw;
  const selector = model === undefined ? undefined : { model };
  return buildReservation(
    n,
    { node, unitIds },
    {
      ...{ start, end: start + length, resources: { ...NO_SCALARS, vcpu } },
      devices: [{ class: "gpu", count: draw.count, selector }],
      gang: members && { size: members },
    },
  );
}

/** Those that do not clash with one before them. */
function apart(draws: readonly Draw[]): Reservation[] {
  const kept: Reservation[] = [];
  for (const [n, draw] of draws.entries()) {
    const next = reservationOf(draw, n);
    const beside = kept.filter((r) => r.start < next.end && r.end > next.start);
    const held = new Set(beside.flatMap((r) => r.members.flatMap((m) => m.unitIds)));
    const own = next.members.flatMap((m) => m.unitIds);
    if (own.length > 0 && !own.some((id) => held.has(id))) kept.push(next);
  }
  return kept;
}

test("the mix kept change by change is the mix of the bookings that are there, in any order", () => {
  fc.assert(
    fc.property(fc.array(drawArb, { maxLength: 12 }), fc.nat(), (draws, salt) => {
      const all = apart(draws);
      const state = PoolState.load(buildSnapshot(nodes, [], buildConfig()));
      for (const after of all) {
        state.apply({ kind: "reservation", before: null, after });
        // From when it is first read on, the mix is kept in order change by change.
        expect(state.demand.length).toBeGreaterThan(0);
      }
      const over = all.filter((_, n) => (n + salt) % 3 === 0);
      for (const before of over)
        state.apply({ kind: "reservation", before, after: { ...before, state: "released" } });
      const left = all.filter((one) => !over.includes(one)).reverse();
      expect(state.demand).toEqual(
        PoolState.load(buildSnapshot(nodes, left, buildConfig())).demand,
      );
    }),
  );
});

test("no node scores higher than the bound at which a walk may end", () => {
  fc.assert(
    fc.property(
      fc.array(drawArb, { maxLength: 14 }),
      drawArb,
      fc.constantFrom("pack" as const, "spread" as const),
      (draws, asked, placement) => {
        const config = buildConfig({ placement });
        const state = PoolState.load(buildSnapshot(nodes, apart(draws), config));
        const { devices, resources, start, end } = reservationOf(asked, 99);
        const request = buildRequest({ devices, resources, start, end });
        const placed = place(state, request);
        if (!placed.fits) return;
        const best = bestScore(state, planOf(state, request));
        for (const { score } of placed.candidates) expect(score).toBeLessThanOrEqual(best);
      },
    ),
  );
});
