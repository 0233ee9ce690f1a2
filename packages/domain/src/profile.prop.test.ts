/** The step function against an array that holds the level of every instant. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Profile } from "./profile.ts";

const SPAN = 400;
const pieceArb = fc.record({
  start: fc.nat({ max: SPAN }),
  length: fc.nat({ max: 60 }),
  amount: fc.integer({ min: 1, max: 9 }),
});

function naive(pieces: readonly { start: number; length: number; amount: number }[]): number[] {
  const levels = Array.from({ length: SPAN + 100 }, () => 0);
  for (const { start, length, amount } of pieces) {
    for (let at = start; at < start + length; at += 1) levels[at]! += amount;
  }
  return levels;
}

function profileOf(pieces: readonly { start: number; length: number; amount: number }[]): Profile {
  const profile = new Profile();
  for (const { start, length, amount } of pieces) profile.add(start, start + length, amount);
  return profile;
}

test("peak, peakFrom, at, firstAbove and clearAfter are what an array of levels says", () => {
  const windowArb = fc.tuple(fc.nat({ max: SPAN + 50 }), fc.nat({ max: 90 }));
  const manyArb = fc.array(pieceArb, { maxLength: 300 });
  fc.assert(
    fc.property(manyArb, windowArb, fc.nat({ max: 30 }), (pieces, [start, length], limit) => {
      const levels = naive(pieces);
      const profile = profileOf(pieces);
      const end = start + length;
      expect(profile.at(start)).toBe(levels[start] ?? 0);
      expect(profile.peak(start, end)).toBe(Math.max(0, ...levels.slice(start, end)));
      expect(profile.peakFrom(start)).toBe(Math.max(0, ...levels.slice(start)));
      const above = levels.findIndex((level, at) => at >= start && level > limit);
      expect(profile.firstAbove(start, limit)).toBe(above < 0 ? null : above);
      const clear = profile.clearAfter(start, end, limit);
      if (profile.peak(start, end) <= limit) expect(clear).toBe(start);
      else {
        expect(clear).toBeGreaterThan(start);
        expect(profile.peak(Math.min(clear, end), end)).toBeLessThanOrEqual(limit);
        expect(profile.at(clear - 1)).toBeGreaterThan(limit);
      }
    }),
    { numRuns: 400 },
  );
});

test("taking everything back, in any order, leaves nothing", () => {
  fc.assert(
    fc.property(fc.array(pieceArb, { maxLength: 300 }), (pieces) => {
      const profile = profileOf(pieces);
      for (const { start, length, amount } of pieces) profile.add(start, start + length, -amount);
      expect(profile.isEmpty).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test("points are the changes of level, in order, ending at 0", () => {
  fc.assert(
    fc.property(fc.array(pieceArb, { maxLength: 300 }), (pieces) => {
      const levels = naive(pieces);
      const points = [...profileOf(pieces).points()];
      const expected = levels
        .map((level, at) => [at, level] as const)
        .filter(([at, level]) => level !== (at === 0 ? 0 : levels[at - 1]));
      expect(points).toEqual(expected);
    }),
    { numRuns: 100 },
  );
});
