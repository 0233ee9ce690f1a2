import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BusyTimes, MANY } from "./busy-times.ts";
import { Calendar } from "./calendar.ts";

const UNITS = 3;
const END = 12;

/** Books and frees in turn: each step names a row, a unit and a window, and is skipped where the unit is booked. */
const steps = fc.array(
  fc.record({
    row: fc.nat({ max: 2 }),
    unit: fc.nat({ max: UNITS - 1 }),
    start: fc.nat({ max: END - 2 }),
    length: fc.integer({ min: 1, max: 5 }),
    frees: fc.boolean(),
  }),
  { maxLength: 60 },
);

interface Booked {
  readonly row: number;
  readonly unit: number;
  readonly start: number;
  readonly end: number;
}

function setOf(
  booked: readonly Booked[],
  row: number,
  window: { start: number; end: number },
): number {
  return booked
    .filter((b) => b.row === row && b.start < window.end && b.end > window.start)
    .reduce((set, { unit }) => set | (1 << unit), 0);
}

test("a row says which units are booked in every window, its summary whether any is", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const summary = new BusyTimes();
      const busy = new BusyTimes(summary);
      const rows = [busy.open(), busy.open(), busy.open()];
      let booked: Booked[] = [];
      for (const { row, unit, start, length, frees } of all) {
        const window = { start, end: start + length };
        const own = booked.filter((b) => b.row === row && b.unit === unit);
        const first = own[0];
        if (frees && first) {
          busy.flip(row, unit, first);
          booked = booked.filter((b) => b !== first);
        } else if (own.every((b) => b.end <= start || b.start >= window.end)) {
          busy.flip(row, unit, window);
          booked.push({ row, unit, ...window });
        }
      }
      for (let start = 0; start < END + 4; start += 1)
        for (let end = start + 1; end < END + 5; end += 1) {
          const sets = rows.map((row) => setOf(booked, row, { start, end }));
          expect(rows.map((row) => busy.during(row, start, end))).toEqual(sets);
          const any = sets.reduce((bits, set, row) => (set === 0 ? bits : bits | (1 << row)), 0);
          expect(summary.during(0, start, end)).toBe(any);
        }
    }),
  );
});

test("a row that is closed is empty when it is opened again, and its summary knows", () => {
  const summary = new BusyTimes();
  const busy = new BusyTimes(summary);
  const row = busy.open();
  busy.flip(row, 1, { start: 5, end: 9 });
  busy.flip(row, 2, { start: 7, end: 12 });
  busy.close(row);
  expect(busy.open()).toBe(row);
  expect(busy.during(row, 0, 20)).toBe(0);
  expect(summary.during(0, 0, 20)).toBe(0);
});

test("the 32nd unit has a bit, and the rows of two groups have a summary each", () => {
  const summary = new BusyTimes();
  const busy = new BusyTimes(summary);
  const rows = Array.from({ length: 40 }, () => busy.open());
  busy.flip(rows[33] as number, 31, { start: 1, end: 2 });
  expect(busy.during(33, 1, 2)).toBe(1 << 31);
  expect([summary.during(0, 0, 9), summary.during(1, 0, 9)]).toEqual([0, 2]);
});

test("a window with more steps than are read is answered with MANY, a narrow one still exactly", () => {
  const busy = new BusyTimes();
  const row = busy.open();
  for (let at = 0; at < 200; at += 2) busy.flip(row, 0, { start: at, end: at + 1 });
  expect(busy.during(row, 0, 400)).toBe(MANY);
  expect(busy.during(row, 101, 102)).toBe(0);
  expect(busy.during(row, 101, 103)).toBe(1);
});

test("a calendar says which units are booked where its row has too many steps, and otherwise the same", () => {
  const busy = new BusyTimes(new BusyTimes());
  const calendar = new Calendar(3, busy);
  for (let at = 0; at < 200; at += 2)
    calendar.insert(at % 3, { start: at, end: at + 1, reservationId: `rsv_${at}` });
  expect(busy.during(calendar.row, 0, 400)).toBe(MANY);
  expect(calendar.bookedIn({ start: 0, end: 400 })).toBe(0b111);
  for (let start = 0; start < 40; start += 1) {
    const window = { start, end: start + 3 };
    expect(calendar.bookedIn(window)).toBe(busy.during(calendar.row, window.start, window.end));
  }
  expect(new Calendar(33, busy).row).toBe(-1);
});
