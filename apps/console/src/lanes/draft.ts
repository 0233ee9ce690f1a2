/** A booking that is drawn with keys: where it begins, and how a key changes it. Pure. */
import type { Lane, LaneSpan, TimeWindow } from "./model.ts";

const MINUTE = 60_000;

/** A stretch on a lane, on whole steps. */
export interface Draft {
  /** The lane's place. */
  readonly at: number;
  readonly window: TimeWindow;
}

/** Steps that suit what is looked at: quarters of an hour in a short window, else half hours, which suit most zones. */
export function stepOf({ from, to }: TimeWindow): number {
  return (to - from <= 12 * 60 * MINUTE ? 15 : 30) * MINUTE;
}

/** Four steps from a time on, or from the window's beginning; what is past cannot be booked. */
export function begin(at: number, from: number, shown: TimeWindow): Draft {
  const step = stepOf(shown);
  const start = Math.ceil(Math.max(from, shown.from) / step) * step;
  return { at, window: { from: start, to: start + 4 * step } };
}

export interface Limits {
  readonly lanes: number;
  readonly shown: TimeWindow;
  readonly now: number;
}

export interface Key {
  readonly key: string;
  readonly shiftKey: boolean;
}

/** Days are reached by the page keys. */
const LONG_MS = 24 * 60 * MINUTE;

/** What a key makes of it; null for a key that means nothing here. */
export function changed(draft: Draft, { key, shiftKey }: Key, limits: Limits): Draft | null {
  const { at, window } = draft;
  const step = stepOf(limits.shown);
  const by = { ArrowLeft: -step, ArrowRight: step, PageUp: -LONG_MS, PageDown: LONG_MS }[key];
  if (by !== undefined && shiftKey) {
    const to = Math.max(window.from + step, window.to + by);
    return { at, window: { from: window.from, to } };
  }
  if (by !== undefined) {
    const earliest = Math.ceil(limits.now / step) * step;
    return { at, window: moved(window, by, earliest) };
  }
  if (key === "ArrowUp") return { at: Math.max(0, at - 1), window };
  if (key === "ArrowDown") return { at: Math.min(limits.lanes - 1, at + 1), window };
  return null;
}

/** It keeps its length, and does not go into the past. */
function moved({ from, to }: TimeWindow, by: number, earliest: number): TimeWindow {
  const start = Math.max(earliest, from + by);
  return { from: start, to: start + (to - from) };
}

/** The window that has the draft in sight: as wide as before, moved no further than it has to be. */
export function inSight({ from, to }: TimeWindow, shown: TimeWindow): TimeWindow {
  const wide = shown.to - shown.from;
  if (from < shown.from) return { from, to: from + wide };
  if (to > shown.to && to - from < wide) return { from: to - wide, to };
  return shown;
}

/** What takes the lane meanwhile. */
export function inTheWay({ spans }: Lane, { from, to }: TimeWindow): LaneSpan[] {
  return spans.filter(({ start, end }) => start < to && end > from);
}
