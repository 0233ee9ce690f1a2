import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BusyTimes, EVERY, MANY } from "./busy-times.ts";
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
          expect(rows.map((row) => busy.during(row, { start, end }, EVERY))).toEqual(sets);
          // Asked about some units, it says what is so of these.
          const some = rows.map((row) => busy.during(row, { start, end }, 0b011) & 0b011);
          expect(some).toEqual(sets.map((set) => set & 0b011));
          const any = sets.reduce((bits, set, row) => (set === 0 ? bits : bits | (1 << row)), 0);
          expect(summary.during(0, { start, end }, EVERY)).toBe(any);
        }
    }),
  );
});

test("the mean over a window is the mean of its instants", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ unit: fc.nat({ max: UNITS - 1 }), start: fc.nat({ max: END }) })),
      fc.nat({ max: END }),
      fc.integer({ min: 1, max: END }),
      (all, start, length) => {
        const busy = new BusyTimes(new BusyTimes());
        const row = busy.open();
        const booked = new Set<string>();
        for (const { unit, start: at } of all) {
          if (booked.has(`${unit} ${at}`)) continue;
          booked.add(`${unit} ${at}`);
          busy.flip(row, unit, { start: at, end: at + 1 });
        }
        let sum = 0;
        for (let at = start; at < start + length; at += 1)
          for (let unit = 0; unit < UNITS; unit += 1)
            if (booked.has(`${unit} ${at}`)) sum += 1 << unit;
        const mean = busy.mean(row, { start, end: start + length }, (set) => set);
        expect(mean).toBeCloseTo(sum / length, 9);
      },
    ),
  );
});

test("of a row with more steps in the window than are read there is no mean", () => {
  const busy = new BusyTimes(new BusyTimes());
  const row = busy.open();
  for (let at = 0; at < 200; at += 2) busy.flip(row, 0, { start: at, end: at + 1 });
  expect(busy.mean(row, { start: 0, end: 400 }, (set) => set)).toBeNull();
  expect(busy.mean(row, { start: 100, end: 104 }, (set) => set)).toBe(0.5);
});

test("a row that is closed is empty when it is opened again, and its summary knows", () => {
  const summary = new BusyTimes();
  const busy = new BusyTimes(summary);
  const row = busy.open();
  busy.flip(row, 1, { start: 5, end: 9 });
  busy.flip(row, 2, { start: 7, end: 12 });
  busy.close(row);
  expect(busy.open()).toBe(row);
  expect(busy.during(row, { start: 0, end: 20 }, EVERY)).toBe(0);
  expect(summary.during(0, { start: 0, end: 20 }, EVERY)).toBe(0);
});

test("the 32nd unit has a bit, and the rows of two groups have a summary each", () => {
  const summary = new BusyTimes();
  const busy = new BusyTimes(summary);
  const rows = Array.from({ length: 40 }, () => busy.open());
  busy.flip(rows[33] as number, 31, { start: 1, end: 2 });
  expect(busy.during(33, { start: 1, end: 2 }, EVERY)).toBe(1 << 31);
  expect([
    summary.during(0, { start: 0, end: 9 }, EVERY),
    summary.during(1, { start: 0, end: 9 }, EVERY),
  ]).toEqual([0, 2]);
});

test("a window with more steps than are read is answered with MANY, a narrow one still exactly", () => {
  const busy = new BusyTimes(new BusyTimes());
  const row = busy.open();
  for (let at = 0; at < 200; at += 2) busy.flip(row, 0, { start: at, end: at + 1 });
  expect(busy.during(row, { start: 0, end: 400 }, EVERY)).toBe(MANY);
  expect(busy.during(row, { start: 101, end: 102 }, EVERY)).toBe(0);
  expect(busy.during(row, { start: 101, end: 103 }, EVERY)).toBe(1);
});

test("a calendar says which units are booked where its row has too many steps, and otherwise the same", () => {
  const busy = new BusyTimes(new BusyTimes());
  const calendar = new Calendar(3, busy);
  for (let at = 0; at < 200; at += 2)
    calendar.insert(at % 3, { start: at, end: at + 1, reservationId: `rsv_${at}` });
  expect(busy.during(calendar.row, { start: 0, end: 400 }, EVERY)).toBe(MANY);
  expect(calendar.bookedIn({ start: 0, end: 400 })).toBe(0b111);
  for (let start = 0; start < 40; start += 1) {
    const window = { start, end: start + 3 };
    expect(calendar.bookedIn(window)).toBe(busy.during(calendar.row, window, EVERY));
  }
  expect(new Calendar(33, busy).row).toBe(-1);
});
