/** The map speaks of one moment, and says which: the pool's rows count what nobody has booked at any time. */
import { expect, it } from "vitest";
import { rowsOf } from "./cells.ts";
import { linesOf } from "./map-lines.ts";
import { someNode, someUnit } from "./test-kit.ts";
import { freeText } from "./words.ts";

const later = { kind: "busy" as const, start: 1_000, end: 2_000, reservationId: null };
const node = someNode({
  labels: { rack: "r08" },
  units: [0, 1].map((index) => someUnit({ id: `unit_${index}`, index, spans: [later] })),
});

it("what is booked later only is free now, on the node and on its rack", () => {
  const rows = rowsOf([node], { now: 0 });
  expect(rows.map((row) => freeText(row, "now"))).toEqual(["2 of 2 free now"]);
  expect(linesOf(rows, "now")[0]).toMatchObject({ group: "r08", free: "2 of 2 GPUs free now" });
});

it("on a map of another time it is free, or not, then", () => {
  const rows = rowsOf([node], { now: 1_500 });
  expect(rows.map((row) => freeText(row, "then"))).toEqual(["0 of 2 free then"]);
  expect(linesOf(rows, "then")[0]).toMatchObject({ free: "0 of 2 GPUs free then" });
});
