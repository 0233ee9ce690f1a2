import type { QuotedShape } from "@berth/client";
import { describe, expect, it } from "vitest";
import { endsIn, placedOf, roomText, takenText, victimsIn } from "./outcome.ts";

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

  it("counts the nodes that could take it where the answer tells them, which is for one node", () => {
    expect(roomText(placedOf({ candidates }, {}))).toBe("2 nodes could take it");
    expect(roomText(placedOf({ candidates: [node("a")] }, {}))).toBe("1 node could take it");
    const full = Array.from({ length: 10 }, (_, index) => node(`n${index}`));
    expect(roomText(placedOf({ candidates: full }, {}))).toBe("10 nodes or more could take it");
  });

  it("names what several members would take, by name, and claims no count of others", () => {
    const gang = [node("h100-02"), node("h100-10"), node("h100-01")];
    const placed = placedOf({ candidates: gang }, { gang: { size: 3 } });
    expect(roomText(placed)).toBe("Would take 3 nodes: h100-01, h100-02, h100-10");
    expect(takenText(placed)).toBe("Takes h100-01, h100-02, h100-10, marked on the map");
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
