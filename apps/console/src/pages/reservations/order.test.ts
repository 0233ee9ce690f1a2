import type { ReservationState } from "@berth/client";
import { expect, it } from "vitest";
import { inOrder, windowOf } from "./order.ts";

const one = (
  id: string,
  state: ReservationState,
  [start, end]: readonly [number, number],
  endedAt: number | null = null,
) => ({ id, state, start, end, endedAt });

it("what runs is first, then what comes by its start, and what is over is last", () => {
  const all = [
    one("over-early", "completed", [0, 10], 10),
    one("comes-late", "scheduled", [90, 95]),
    one("runs-long", "active", [0, 80]),
    one("released-late", "released", [0, 70], 40),
    one("comes-soon", "scheduled", [60, 99]),
    one("under-notice", "preempting", [0, 55]),
  ];
  expect(inOrder(all).map(({ id }) => id)).toEqual([
    "under-notice",
    "runs-long",
    "comes-soon",
    "comes-late",
    "released-late",
    "over-early",
  ]);
});

it("a span of time is asked for in whole hours, and any time without one", () => {
  expect(windowOf("24h", 3_600_000 * 5 + 17)).toEqual({ from: 18_000_000, to: 104_400_000 });
  expect(windowOf(undefined, 5)).toEqual({});
});
