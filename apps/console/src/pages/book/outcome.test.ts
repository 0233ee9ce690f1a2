import type { QuotedShape } from "@berth/client";
import { describe, expect, it } from "vitest";
import { endsIn, placedOf, victimsIn } from "./outcome.ts";

const node = (nodeName: string) => ({ nodeId: nodeName, nodeName, atoms: [nodeName], score: 1 });
const candidates = [node("best"), node("next")];
const names = (given: Parameters<typeof placedOf>[1]) => {
  const { instead, taken } = placedOf({ candidates }, given);
  return [taken, instead].map((each) => each.map(({ nodeName }) => nodeName));
};

describe("what booking would do", () => {
  it("takes the first candidate, and all of them for several members or leased nodes", () => {
    expect(names({})).toEqual([["best"], ["next"]]);
    expect(names({ gang: { size: 2 } })).toEqual([["best", "next"], []]);
    expect(names({ binding: "node" })).toEqual([["best", "next"], []]);
    expect(placedOf({ candidates: [] }, {})).toEqual({ taken: [], instead: [] });
  });

  it("ends nothing when it fits, else what the answer says", () => {
    const preemptible = { count: 2, startsAt: 5, exact: true };
    const of = (fits: boolean) => ({ preview: { fits, preemptible } }) as unknown as QuotedShape;
    expect(victimsIn(of(false))).toBe(preemptible);
    expect([endsIn(of(false)), endsIn(of(true)), endsIn(null)]).toEqual([
      { count: 2, exact: true },
      { count: 0, exact: true },
      { count: 0, exact: true },
    ]);
  });
});
