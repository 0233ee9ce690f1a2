/** Buckets of time: exact edges, every unit once. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Node, Reservation } from "./model.ts";
import { PoolState } from "./state/pool-state.ts";
import {
  bruteTimeline,
  buildNode,
  buildReservation,
  buildSnapshot,
  buildUnitReservation,
  poolArb,
} from "./testing/index.ts";
import { timeline } from "./timeline.ts";

const HOUR = 3_600_000;
const T = 100 * HOUR;

function booker(
  node: Node,
): (from: number, count: number, window: [number, number]) => Reservation {
  let serial = 0;
  return (from, count, [start, end]) => {
    const unitIds = node.units.slice(from, from + count).map((unit) => unit.id);
    return buildReservation((serial += 1), { node, unitIds }, { start, end });
  };
}

test("a booking counts in every bucket that it touches, not in those that it only borders on", () => {
  const node = buildNode(0, { gpus: 8 });
  const book = booker(node);
  const bookings = [
    book(0, 2, [T + HOUR, T + 2 * HOUR]),
    book(2, 1, [T - 5 * HOUR, T + 20 * HOUR]),
    book(3, 1, [T + 4 * HOUR, T + 5 * HOUR]),
    book(4, 1, [T - HOUR, T]),
    book(5, 1, [T + 3 * HOUR - 1000, T + 3 * HOUR]),
  ];
  const state = PoolState.load(buildSnapshot([node], bookings));
  const window = { from: T, to: T + 4 * HOUR, stepMinutes: 60 };
  expect(timeline(state, window)).toEqual({
    allocatable: 8,
    buckets: [
      { start: T, booked: 1, free: 7 },
      { start: T + HOUR, booked: 3, free: 5 },
      { start: T + 2 * HOUR, booked: 2, free: 6 },
      { start: T + 3 * HOUR, booked: 1, free: 7 },
    ],
  });
});

test("a GPU with two bookings in one bucket counts once", () => {
  const node = buildNode(0, { gpus: 1 });
  const book = booker(node);
  const bookings = [book(0, 1, [T, T + HOUR / 2]), book(0, 1, [T + HOUR / 2, T + HOUR])];
  const state = PoolState.load(buildSnapshot([node], bookings));
  const { buckets } = timeline(state, { from: T, to: T + HOUR, stepMinutes: 60 });
  expect(buckets).toEqual([{ start: T, booked: 1, free: 0 }]);
});

test("the last bucket is cut at the end of the window, and free never falls below 0", () => {
  const node = buildNode(0, { gpus: 1 }, { state: "unhealthy" });
  const book = booker(node);
  const state = PoolState.load(
    buildSnapshot([node], [book(0, 1, [T + 90 * 60_000, T + 2 * HOUR])]),
  );
  const cut = timeline(state, { from: T, to: T + 90 * 60_000, stepMinutes: 60 });
  expect(cut.buckets.map((bucket) => bucket.booked)).toEqual([0, 0]);
  const whole = timeline(state, { from: T, to: T + 2 * HOUR, stepMinutes: 60 });
  expect(whole.buckets[1]).toEqual({ start: T + HOUR, booked: 1, free: 0 });
});

test("every bucket is what asking each GPU gives", () => {
  const windowArb = fc.record({
    from: fc.integer({ min: -10, max: 45 }),
    length: fc.integer({ min: 1, max: 50 }),
    step: fc.integer({ min: 1, max: 9 }),
  });
  fc.assert(
    fc.property(poolArb, windowArb, (snapshot, { from, length, step }) => {
      const to = from + length;
      const { buckets } = timeline(PoolState.load(snapshot), {
        from,
        to,
        stepMinutes: step / 60_000,
      });
      const booked = buckets.map(({ start, booked: count }) => ({ start, booked: count }));
      expect(booked).toEqual(bruteTimeline(snapshot, { from, to, step }));
    }),
    { numRuns: 300 },
  );
});

test("what is withheld only after the end is in no bucket, the cut last one included", () => {
  const node = buildNode(0, { gpus: 2 });
  const [unit] = node.units;
  const term = { startsAt: T + 100 * 60_000, endsAt: T + 3 * HOUR };
  const fence = buildUnitReservation(1, {
    nodeId: node.id,
    unitIds: unit ? [unit.id] : [],
    status: "pending",
    ...term,
  });
  const state = PoolState.load({ ...buildSnapshot([node]), unitReservations: [fence] });
  const bookedTo = (to: number): number[] =>
    timeline(state, { from: T, to, stepMinutes: 60 }, "t-a").buckets.map(({ booked }) => booked);
  expect(bookedTo(T + 90 * 60_000)).toEqual([0, 0]);
  expect(bookedTo(T + 2 * HOUR)).toEqual([0, 1]);
});
