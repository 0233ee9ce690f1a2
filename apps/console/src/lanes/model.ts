/**
 * The lane timeline's arithmetic, without a screen: spans become rows that do not overlap, rows become rectangles of
 * one window, and instants become pixels and back. Times are milliseconds since the epoch throughout.
 */

/** How a span is drawn; each kind differs by glyph or hatch as well as by colour. */
export type SpanKind = "mine" | "spot" | "booked" | "withheld" | "maintenance";

/** Something that takes a lane for a while. */
export interface LaneSpan {
  /** Unique in its lane. */
  readonly id: string;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly kind: SpanKind;
  /** What stands in the bar, and begins its name for a screen reader. */
  readonly label: string;
  /** The caller's own reservation; null for what others hold. */
  readonly reservationId: string | null;
}

/** One row of the timeline: a node or a reservation. */
export interface Lane {
  readonly id: string;
  readonly label: string;
  /** A second word beside the label, such as the rack. */
  readonly note?: string | undefined;
  readonly spans: readonly LaneSpan[];
}

/** What is looked at: `from` inclusive, `to` exclusive. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** A span and the row of its lane that it lies in, from 0. */
export interface StackedSpan {
  readonly span: LaneSpan;
  readonly row: number;
}

/** A lane whose spans do not overlap within a row. */
export interface StackedLane {
  readonly lane: Lane;
  /** By start. */
  readonly spans: readonly StackedSpan[];
  /** At least 1: an empty lane is still a row. */
  readonly rows: number;
}

/** Where a span is drawn, in pixels from the window's left edge. */
export interface Rect extends StackedSpan {
  readonly left: number;
  readonly width: number;
  /** It goes on outside of the window on that side. */
  readonly cut: { readonly start: boolean; readonly end: boolean };
}

/** Narrower bars could be neither seen nor hit. */
const LEAST_WIDTH = 3;
/** Zooming in further shows nothing more: leases are counted in seconds, bookings in minutes. */
const LEAST_WINDOW_MS = 5 * 60_000;
/** No booking starts later than a year and a day ahead. */
const MOST_WINDOW_MS = 400 * 86_400_000;

/** Lanes as they were last stacked. */
const lately = new WeakMap<Lane, StackedLane>();

/**
 * Puts each span into the first row that is free at its start: fewest rows, and earlier spans stay where they are. Asked
 * again of the same lane, it is the same object.
 */
export function stack(lane: Lane): StackedLane {
  const before = lately.get(lane);
  if (before) return before;
  const ends: number[] = [];
  const spans = lane.spans
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .map((span) => {
      const free = ends.findIndex((end) => end <= span.start);
      const row = free === -1 ? ends.length : free;
      ends[row] = span.end;
      return { span, row };
    });
  const stacked = { lane, spans, rows: Math.max(1, ends.length) };
  lately.set(lane, stacked);
  return stacked;
}

/** The pixel of an instant; outside of the window it is negative or beyond the width. */
export function toPixel(at: number, window: TimeWindow, width: number): number {
  return ((at - window.from) / (window.to - window.from)) * width;
}

/** The instant under a pixel, held within the window. */
export function toInstant(pixel: number, window: TimeWindow, width: number): number {
  const share = Math.min(1, Math.max(0, width > 0 ? pixel / width : 0));
  return window.from + share * (window.to - window.from);
}

/** Only what the window shows, cut to it: a bar outside of it is no element at all. */
export function rectsOf(stacked: StackedLane, window: TimeWindow, width: number): Rect[] {
  return stacked.spans
    .filter(({ span }) => span.start < window.to && span.end > window.from)
    .map(({ span, row }) => {
      const left = Math.max(0, toPixel(span.start, window, width));
      const right = Math.min(width, toPixel(span.end, window, width));
      return {
        span,
        row,
        left: Math.min(left, width - LEAST_WIDTH),
        width: Math.max(LEAST_WIDTH, right - left),
        cut: { start: span.start < window.from, end: span.end > window.to },
      };
    });
}

/** The window that a drag from one instant to another asks for; never narrower than five minutes. */
export function zoomedTo(one: number, other: number): TimeWindow {
  const [from, to] = one < other ? [one, other] : [other, one];
  const missing = Math.max(0, LEAST_WINDOW_MS - (to - from));
  return { from: Math.round(from - missing / 2), to: Math.round(to + missing / 2) };
}

/** The window `factor` times as wide about an instant that stays where it is on the screen. */
export function zoomedBy(window: TimeWindow, factor: number, about: number): TimeWindow {
  const share = (about - window.from) / (window.to - window.from);
  const asked = (window.to - window.from) * factor;
  const wide = Math.min(MOST_WINDOW_MS, Math.max(LEAST_WINDOW_MS, asked));
  const from = Math.round(about - share * wide);
  return { from, to: from + Math.round(wide) };
}

/** The stretch that a drag drew, on whole steps: what begins within a step begins with it. */
export function drawn(one: number, other: number, stepMs: number): TimeWindow {
  const [from, to] = one < other ? [one, other] : [other, one];
  const start = Math.floor(from / stepMs) * stepMs;
  return { from: start, to: Math.max(start + stepMs, Math.ceil(to / stepMs) * stepMs) };
}

/** The span of a lane that lies nearest to an instant: where the arrow to another lane lands. */
export function nearest(rects: readonly Rect[], at: number): Rect | null {
  const distance = ({ span }: Rect): number =>
    at < span.start ? span.start - at : Math.max(0, at - span.end + 1);
  return rects.reduce<Rect | null>(
    (best, rect) => (best === null || distance(rect) < distance(best) ? rect : best),
    null,
  );
}
