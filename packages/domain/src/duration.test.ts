import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  DURATION_MIN_MS,
  TIME_MAX,
  formatDuration,
  horizonMs,
  maxDurationMs,
  parseDuration,
} from "./duration.ts";

const H = 3_600_000;
const D = 24 * H;

describe("parseDuration", () => {
  it.each([
    [1_000, 1_000],
    [5_400_000, 5_400_000],
    ["PT90M", 90 * 60_000],
    ["P7D", 7 * D],
    ["P2W", 14 * D],
    ["P1DT2H30M5S", D + 2.5 * H + 5_000],
    ["PT0H1S", 1_000],
    ["90m", 90 * 60_000],
    ["2h30m", 2.5 * H],
    ["7d", 7 * D],
    ["1w1d1h1m1s1ms", 8 * D + H + 61_001],
    ["1000ms", 1_000],
    [TIME_MAX, TIME_MAX],
    [`${TIME_MAX}ms`, TIME_MAX],
  ])("reads %s as %d ms", (text, ms) => {
    expect(parseDuration(text)).toEqual({ ok: true, ms });
  });

  it.each([
    [999, "at least 1 second"],
    [0, "at least 1 second"],
    [-1, "at least 1 second"],
    ["0h", "at least 1 second"],
    ["999ms", "at least 1 second"],
    ["PT0S", "at least 1 second"],
    [1_000.5, "whole number"],
    [Number.NaN, "whole number"],
    ["PT1.5H", "whole numbers"],
    ["P0,5D", "whole numbers"],
    ["P1Y", "no fixed length"],
    ["P1M", "no fixed length"],
    ["P1Y2M10DT2H30M", "no fixed length"],
    [TIME_MAX + 1, "too long"],
    [Number.POSITIVE_INFINITY, "too long"],
    [`${"9".repeat(60)}d`, "too long"],
    ["P99999999999999W", "too long"],
    ["1".repeat(65), "at most 64 characters"],
    ["", "not a duration"],
    ["-1h", "not a duration"],
    ["1 fortnight", "not a duration"],
    ["1.5h", "not a duration"],
    ["Infinity", "not a duration"],
    ["NaN", "not a duration"],
    ["1e308", "not a duration"],
    ["60", "not a duration"],
    ["2H", "not a duration"],
    ["P", "not an ISO 8601"],
    ["PT", "not an ISO 8601"],
    ["P1DT", "not an ISO 8601"],
    ["PT1S1M", "not an ISO 8601"],
    ["p1d", "not a duration"],
  ])("refuses %s: %s", (text, message) => {
    const read = parseDuration(text);
    expect(read).toMatchObject({ ok: false, message: expect.stringContaining(message) });
  });

  it("adds up the parts of any short text", () => {
    const units = { ms: 1, s: 1_000, m: 60_000, h: H, d: D, w: 7 * D } as const;
    const part = fc.tuple(
      fc.integer({ min: 0, max: 9_999 }),
      fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
        const ms = parts.reduce((sum, [count, unit]) => sum + count * units[unit], 0);
        const read = parseDuration(parts.map(([count, unit]) => `${count}${unit}`).join(""));
        expect(read.ok ? read.ms : null).toBe(ms < DURATION_MIN_MS ? null : ms);
      }),
    );
  });

  it("never throws, and answers only whole milliseconds in range", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.double(), fc.integer()), (value) => {
        const read = parseDuration(value);
        if (read.ok) {
          expect(Number.isInteger(read.ms)).toBe(true);
          expect(read.ms).toBeGreaterThanOrEqual(DURATION_MIN_MS);
          expect(read.ms).toBeLessThanOrEqual(TIME_MAX);
        } else expect(read.message).not.toBe("");
      }),
    );
  });
});

describe("a policy's durations", () => {
  it("are 366 days unless the owner wrote others", () => {
    expect(maxDurationMs({})).toBe(366 * D);
    expect(horizonMs({})).toBe(366 * D);
    expect(maxDurationMs({ maxDuration: "2d" })).toBe(2 * D);
    expect(horizonMs({ horizon: 5_000 })).toBe(5_000);
  });
});

describe("formatDuration", () => {
  it.each([
    [2 * H, "2 h"],
    [3 * D, "3 d"],
    [90 * 60_000, "90 min"],
    [61_000, "61 s"],
    [1_001, "1001 ms"],
  ])("writes %d as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
