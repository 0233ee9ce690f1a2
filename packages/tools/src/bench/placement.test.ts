/** The replays that nothing is booked twice: they have to notice when something is. */
import { expect, test } from "vitest";
import { bookShared } from "./placement-mixed.ts";
import { inSlots } from "./placement-packing.ts";
import { bookAll, checkApart, replay } from "./placement-philly.ts";
import type { Decision } from "./placement-philly.ts";
import type { CalendarRequest } from "./placement-trace.ts";

const ask = (gpus: number, more: Partial<CalendarRequest> = {}): CalendarRequest => ({
  id: "r",
  ...{ submit: 0, lead: 0, window: 100, dur: 10, milli: 1000, cpu: 0 },
  ...more,
  gpus,
});
const on = (start: number, ...cards: (readonly [number, number])[]): Decision => ({ start, cards });

test("a card that is booked twice fails the run", () => {
  const twice = [on(0, [0, 3]), on(5, [0, 3])];
  const requests = [ask(1), ask(1, { lead: 5 })];
  expect(() => replay(requests, 1, twice)).toThrow(/booked twice/);
  expect(() => {
    checkApart(requests, twice);
  }).toThrow(/booked twice/);
  expect(replay(requests, 1, [on(0, [0, 3]), on(5, [0, 4])])).toBe(100);
});

test("so do a start that could be earlier, and a refusal where there is room", () => {
  expect(() => replay([ask(1)], 1, [on(7, [0, 0])])).toThrow(/has room at 0/);
  expect(() => replay([ask(1)], 1, [null])).toThrow(/has room at 0/);
});

test("so does a booking that is not what was asked for", () => {
  expect(() => replay([ask(2)], 2, [on(0, [0, 0], [1, 0])])).toThrow(/as it asked/);
  expect(() => replay([ask(1, { lead: 5 })], 1, [on(0, [0, 0])])).toThrow(/as it asked/);
});

test("the placer's own decisions pass, gangs and waits included", () => {
  const requests = [
    ask(8),
    ask(16, { submit: 1 }),
    ask(3, { submit: 2 }),
    ask(4, { submit: 3, window: 0 }),
    ask(8, { submit: 4, window: 0 }),
  ];
  const decisions = bookAll(requests, 2, []);
  expect(decisions.map((one) => one?.start ?? null)).toEqual([0, 10, 20, null, null]);
  expect(replay(requests, 2, decisions)).toBeCloseTo((27 / 39) * 100);
});

test("a share takes whole slots of its card, and a whole card stays one", () => {
  const pod = { cpu: 0, mem: 0, num: 1, milli: 260, spec: "" };
  expect([2, 4, 8].map((slots) => inSlots(pod, slots).milli)).toEqual([500, 500, 375]);
  expect(inSlots({ ...pod, milli: 250 }, 4).milli).toBe(250);
  expect(inSlots({ ...pod, milli: 600 }, 2).milli).toBe(1_000);
  const others = [
    { ...pod, milli: 1_000, num: 4 },
    { ...pod, milli: 0, num: 0 },
  ];
  for (const other of others) expect(inSlots(other, 8)).toEqual(other);
  expect(inSlots(pod, 0)).toEqual(pod);
});

test("of shared cards no more is given than there is", () => {
  const half = { milli: 600, window: 0 };
  const requests = [ask(1, half), ask(1, half), ask(1, half)];
  expect(bookShared(requests, { nodes: 1, gpus: 2, cpu: 0 })).toBeCloseTo((2 / 3) * 100);
});
