import { describe, expect, it } from "vitest";
import { lostParts, packScore, spreadScore } from "./score.ts";
import { Shortlist } from "./shortlist.ts";

const wish = (weight: number, size: number, amounts: readonly number[] = []) => ({
  weight,
  size,
  amounts,
});

describe("of what is free is lost", () => {
  it("what each request leaves over, packed in as often as it goes", () => {
    const wishes = [wish(0.5, 1), wish(0.25, 4), wish(0.25, 8)];
    // Seven free: ones use all, a four leaves three, an eight does not fit.
    expect(lostParts(wishes, { parts: 7, times: [7, 1, 0], amounts: [] })).toBe(
      0.25 * 3 + 0.25 * 7,
    );
  });

  it("what a scalar that is short keeps from being used", () => {
    const wishes = [wish(1, 1, [16, 0])];
    expect(lostParts(wishes, { parts: 8, times: [8], amounts: [96, 0] })).toBe(2);
    expect(lostParts(wishes, { parts: 8, times: [8], amounts: [15, 0] })).toBe(8);
  });

  it("everything where a node that shrank has less than is in use", () => {
    const wishes = [wish(1, 1, [16])];
    expect(lostParts(wishes, { parts: 8, times: [8], amounts: [-5] })).toBe(8);
  });
});

describe("a score", () => {
  it("is in [0, 1], falls as more is lost, and is the same for about the same", () => {
    const growths = [-8, -1, -0.5, 0, 0.1, 0.5, 8];
    const scores = growths.map(packScore);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(new Set(scores).size).toBe(growths.length);
    for (const score of scores) expect(score >= 0 && score <= 1).toBe(true);
    expect(packScore(0.26)).toBe(packScore(0.37));
    // What rounding makes of nothing is nothing.
    expect(packScore(1e-12)).toBe(packScore(0));
  });

  it("of a pool that spreads is the share that stays free", () => {
    expect(spreadScore(6, 8)).toBe(0.75);
    expect(spreadScore(0, 0)).toBe(0);
  });
});

describe("of places with one score", () => {
  const rank = (offers: readonly [name: string, score: number, slack: number, free: number][]) => {
    const list = new Shortlist<(typeof offers)[number]>(Infinity, Infinity);
    for (const offer of offers) list.offer(offer, offer[1]);
    return list.ranked(9, ([, , slack, free]) => ({ slack, free })).map(({ item }) => item[0]);
  };

  it("the tightest in time comes first, then the fullest, then the first", () => {
    const far = ["better", 0.9, 99, 99] as const;
    const names = rank([
      ["first", 0.5, 2, 4],
      ["second", 0.5, 2, 4],
      ["full", 0.5, 2, 1],
      ["tight", 0.5, 1, 8],
      [...far],
    ]);
    expect(names).toEqual(["better", "tight", "full", "first", "second"]);
  });

  it("no more is looked for once as many as are compared cannot be beaten", () => {
    const list = new Shortlist<number>(0.5, Infinity);
    for (let at = 0; at < 15; at += 1) list.offer(at, 0.5);
    expect(list.isSettled).toBe(false);
    list.offer(15, 0.5);
    expect(list.isSettled).toBe(true);
  });
});
