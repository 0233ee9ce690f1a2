import { describe, expect, it } from "vitest";
import { begin, changed, inSight, inTheWay } from "./draft.ts";
import type { Draft, Limits } from "./draft.ts";

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 11, 7, 12);
const shown = { from: NOON - 2 * HOUR, to: NOON + 22 * HOUR };
const limits: Limits = { lanes: 3, shown, now: NOON + 60_000 };
const at = (from: number, to: number, lane = 1): Draft => ({ at: lane, window: { from, to } });
const press = (draft: Draft, key: string, shiftKey = false): Draft | null =>
  changed(draft, { key, shiftKey }, limits);

describe("a booking that is drawn with keys", () => {
  it("begins on the next step, four steps long", () => {
    expect(begin(1, NOON + 60_000, shown)).toEqual(at(NOON + HOUR / 2, NOON + 2.5 * HOUR));
    expect(begin(0, 0, shown).window.from).toBe(shown.from);
  });

  it("is moved by a step or a day and keeps its length; not into the past", () => {
    const draft = at(NOON + HOUR, NOON + 3 * HOUR);
    expect(press(draft, "ArrowRight")).toEqual(at(NOON + 1.5 * HOUR, NOON + 3.5 * HOUR));
    expect(press(draft, "PageDown")).toEqual(at(NOON + 25 * HOUR, NOON + 27 * HOUR));
    expect(press(draft, "PageUp")).toEqual(at(NOON + 0.5 * HOUR, NOON + 2.5 * HOUR));
  });

  it("is made longer and shorter with Shift, a step at least", () => {
    const draft = at(NOON + HOUR, NOON + 2 * HOUR);
    expect(press(draft, "ArrowRight", true)?.window.to).toBe(NOON + 2.5 * HOUR);
    expect(press(draft, "PageUp", true)?.window.to).toBe(NOON + 1.5 * HOUR);
  });

  it("changes its lane and stays among them", () => {
    expect(press(at(NOON, NOON + HOUR, 2), "ArrowDown")?.at).toBe(2);
    expect(press(at(NOON, NOON + HOUR, 2), "ArrowUp")?.at).toBe(1);
    expect(press(at(NOON, NOON + HOUR, 2), "x")).toBe(null);
  });

  it("stays in sight, and says what is in its way", () => {
    const late = { from: NOON + 30 * HOUR, to: NOON + 32 * HOUR };
    expect(inSight(late, shown)).toEqual({ from: NOON + 8 * HOUR, to: NOON + 32 * HOUR });
    expect(inSight({ from: NOON, to: NOON + HOUR }, shown)).toBe(shown);
    const span = {
      id: "a",
      start: NOON,
      end: NOON + HOUR,
      kind: "booked" as const,
      label: "8 GPUs",
      reservationId: null,
    };
    const lane = { id: "n", label: "n", spans: [span] };
    expect(inTheWay(lane, { from: NOON + HOUR, to: NOON + 2 * HOUR })).toEqual([]);
    expect(inTheWay(lane, { from: NOON - HOUR, to: NOON + 1 })).toEqual([span]);
  });
});
