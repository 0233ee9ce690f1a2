/** A search for victims lets others run: how much it does between two pauses, and what they see meanwhile. */
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
import { findVictims, findVictimsSteps } from "./victims.ts";

const NODES = 160;
const nodes = Array.from({ length: NODES }, (_, n) => buildNode(n, { gpus: 8 }));
/** Bookings whose units a stretch may ask for: 256, each at most three times, and the last one of it. */
const READS_MAX = 3 * 257;

/** A spot booking on each GPU, whose units are counted when they are asked for. */
function crowd(): { state: PoolState; spots: readonly Reservation[]; reads: () => number } {
  let reads = 0;
  const spots = nodes.flatMap((node, n) =>
    node.units.map(({ id }, i): Reservation => {
      const times = { start: 0, end: 100, spot: true, createdAt: (n * 37 + i * 11) % 64 };
      const one = buildReservation(n * 8 + i, { node, unitIds: [id] }, times);
      const members = one.members.map((member) => ({
        ...member,
        get unitIds() {
          reads += 1;
          return member.unitIds;
        },
      }));
      return { ...one, members };
    }),
  );
  const state = PoolState.load(buildSnapshot(nodes, spots, buildConfig()));
  const sinceLast = (): number => {
    const before = reads;
    reads = 0;
    return before;
  };
  sinceLast();
  return { state, spots, reads: sinceLast };
}

const gang = buildRequest({
  devices: [{ class: "gpu", count: 8 }],
  gang: { size: 100 },
  start: 10,
  end: 20,
});

test("between two pauses of a gang's search at most so many bookings are looked at", () => {
  const { state, reads } = crowd();
  const stretches: number[] = [];
  const steps = findVictimsSteps(state, gang);
  for (let done = false; !done;) {
    done = steps.next().done ?? false;
    stretches.push(reads());
  }
  expect(Math.max(...stretches)).toBeLessThanOrEqual(READS_MAX);
  // Nothing would be said by a search that is short anyhow.
  expect(stretches.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(5 * READS_MAX);
  expect(findVictims(state, gang)?.victims).toHaveLength(800);
});

test("whoever looks at the state in a pause finds every booking where it is", () => {
  const { state, spots } = crowd();
  const [one] = spots as [Reservation];
  const single: PlaceRequest = buildRequest({ start: 10, end: 20 });
  const { revision } = state;
  let pauses = 0;
  for (const _ of findVictimsSteps(state, gang)) {
    pauses += 1;
    expect(place(state, single).fits).toBe(false);
    expect(state.bookingsOf(one.members[0]!.unitIds[0]!)).toHaveLength(1);
  }
  expect(pauses).toBeGreaterThan(10);
  expect(state.revision).toBe(revision);
});

test("what changed during a pause is part of the answer", () => {
  const { state, spots } = crowd();
  const steps = findVictimsSteps(state, gang);
  for (let pause = 0; pause < 5; pause += 1) expect(steps.next().done).toBe(false);
  for (const before of spots.slice(0, 64))
    state.apply({ kind: "reservation", before, after: { ...before, state: "released" } });
  const step = steps.next();
  expect(step).toEqual({ done: true, value: findVictims(state, gang) });
  expect(findVictims(state, gang)?.victims).toHaveLength(800 - 64);
});

test("a search on one node pauses too, however many sets of victims it tries", () => {
  const wide = buildNode(0, { gpus: 24, domainOf: 6 });
  // In the order in which they go, each is of another domain than the one before it.
  const spots = wide.units.map(({ id }, i) => {
    const createdAt = 100 - ((i % 6) * 4 + Math.floor(i / 6));
    const times = { start: 0, end: 100, spot: true, createdAt };
    return buildReservation(i, { node: wide, unitIds: [id] }, times);
  });
  const state = PoolState.load(buildSnapshot([wide], spots, buildConfig()));
  const devices = [{ class: "gpu" as const, count: 6, topology: "nvlink-all" as const }];
  const steps = findVictimsSteps(state, buildRequest({ devices, start: 10, end: 20 }));
  let pauses = 0;
  for (const _ of steps) pauses += 1;
  // As many sets as it may try on a node of 24 units, 256 between two pauses, and two pauses before.
  expect(pauses).toBe(Math.floor(20_000 / 3 / 256) + 2);
});
