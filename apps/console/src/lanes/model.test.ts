import { describe, expect, it } from "vitest";
import { drawn, nearest, rectsOf, stack, toInstant, toPixel, zoomedBy, zoomedTo } from "./model.ts";
import type { Lane, LaneSpan } from "./model.ts";

const HOUR = 3_600_000;

function span(id: string, start: number, end: number): LaneSpan {
  return { id, start, end, kind: "booked", label: id, reservationId: null };
}

function lane(...spans: LaneSpan[]): Lane {
  return { id: "lane", label: "lane", spans };
}

const rows = (given: Lane): Record<string, number> =>
  Object.fromEntries(stack(given).spans.map(({ span: { id }, row }) => [id, row]));

describe("stacking", () => {
  it("keeps spans that touch in one row, and takes the first row that is free", () => {
    expect(rows(lane(span("a", 0, 10), span("b", 10, 20)))).toEqual({ a: 0, b: 0 });
    const three = lane(span("a", 0, 10), span("b", 5, 30), span("c", 12, 20));
    expect(rows(three)).toEqual({ a: 0, b: 1, c: 0 });
  });

  it("needs as many rows as ever overlap, whatever the order they come in", () => {
    const spans = Array.from({ length: 200 }, (_, at) =>
      span(`s${at}`, (at * 37) % 101, ((at * 37) % 101) + 1 + ((at * 13) % 17)),
    );
    const stacked = stack(lane(...spans));
    const deepest = Math.max(
      ...spans.map(({ start }) => spans.filter((s) => s.start <= start && s.end > start).length),
    );
    expect(stacked.rows).toBe(deepest);
    for (const one of stacked.spans)
      for (const other of stacked.spans)
        if (one !== other && one.row === other.row)
          expect(one.span.end <= other.span.start || other.span.end <= one.span.start).toBe(true);
  });

  it("gives an empty lane one row", () => {
    expect(stack(lane()).rows).toBe(1);
  });
});

describe("rectangles", () => {
  const window = { from: 100, to: 200 };

  it("leave out what the window does not show, also what only touches it", () => {
    const stacked = stack(
      lane(span("before", 0, 100), span("in", 120, 140), span("after", 200, 300)),
    );
    expect(rectsOf(stacked, window, 1000).map(({ span: { id } }) => id)).toEqual(["in"]);
  });

  it("are cut to the window and say on which side", () => {
    const [rect] = rectsOf(stack(lane(span("long", 0, 150))), window, 1000);
    expect(rect).toMatchObject({ left: 0, width: 500, cut: { start: true, end: false } });
    const [all] = rectsOf(stack(lane(span("all", 0, 900))), window, 1000);
    expect(all).toMatchObject({ left: 0, width: 1000, cut: { start: true, end: true } });
  });

  it("are never too narrow to hit, and stay inside at the right edge", () => {
    const [rect] = rectsOf(stack(lane(span("short", 199.99, 200))), window, 1000);
    expect(rect?.width).toBe(3);
    expect((rect?.left ?? 0) + (rect?.width ?? 0)).toBeLessThanOrEqual(1000);
  });
});

describe("pixels and instants", () => {
  it("are each other's inverse inside, and are held at the edges", () => {
    const window = { from: 1_000, to: 9_000 };
    expect(toInstant(toPixel(3_210, window, 777), window, 777)).toBeCloseTo(3_210);
    expect(toInstant(-50, window, 777)).toBe(1_000);
    expect(toInstant(5_000, window, 777)).toBe(9_000);
    expect(toInstant(10, window, 0)).toBe(1_000);
  });

  it("zoom to what was drawn in either direction, never under five minutes", () => {
    expect(zoomedTo(9 * HOUR, 7 * HOUR)).toEqual({ from: 7 * HOUR, to: 9 * HOUR });
    const least = zoomedTo(HOUR, HOUR + 1_000);
    expect(least.to - least.from).toBe(5 * 60_000);
  });

  it("zoom about an instant that stays where it is", () => {
    const window = { from: 0, to: 8 * HOUR };
    const about = 2 * HOUR;
    const zoomed = zoomedBy(window, 0.5, about);
    expect(zoomed.to - zoomed.from).toBe(4 * HOUR);
    expect(toPixel(about, zoomed, 100)).toBeCloseTo(toPixel(about, window, 100));
  });

  it("zoom neither in nor out for ever", () => {
    const window = { from: 0, to: 8 * HOUR };
    const wide = (factor: number): number => {
      const { from, to } = zoomedBy(window, factor, 4 * HOUR);
      return to - from;
    };
    expect(wide(1e-9)).toBe(5 * 60_000);
    expect(wide(1e9)).toBe(400 * 24 * HOUR);
  });

  it("draw whole steps, at least one", () => {
    expect(drawn(HOUR + 5, HOUR + 9, HOUR)).toEqual({ from: HOUR, to: 2 * HOUR });
    expect(drawn(5 * HOUR + 1, 2 * HOUR + 1, HOUR)).toEqual({ from: 2 * HOUR, to: 6 * HOUR });
  });
});

describe("the nearest span", () => {
  const rects = rectsOf(
    stack(lane(span("a", 0, 10), span("b", 20, 30), span("c", 60, 70))),
    { from: 0, to: 100 },
    100,
  );
  it("is the one that holds the instant, else the one with the shortest way to it", () => {
    expect(nearest(rects, 25)?.span.id).toBe("b");
    expect(nearest(rects, 14)?.span.id).toBe("a");
    expect(nearest(rects, 99)?.span.id).toBe("c");
    expect(nearest([], 5)).toBeNull();
  });
});
