/** Arrows on the lanes: along a lane, to the next one, to its ends, and the zoom. */
import type { Virtualizer } from "@tanstack/react-virtual";
import type { KeyboardEvent } from "react";
import { nearest, rectsOf, zoomedBy } from "./model.ts";
import type { Rect, StackedLane, TimeWindow } from "./model.ts";

interface Keys {
  readonly stacked: readonly StackedLane[];
  readonly active: { readonly laneId: string; readonly spanId: string } | null;
  readonly window: TimeWindow;
  readonly width: number;
  readonly virtual: Virtualizer<HTMLDivElement, HTMLDivElement>;
  readonly box: { readonly current: HTMLDivElement | null };
  onWindow(window: TimeWindow): void;
}

interface Place {
  readonly lane: number;
  readonly spanId: string;
}

const PAGE = 10;

export function useLaneKeys(keys: Keys): (event: KeyboardEvent<HTMLElement>) => void {
  return (event) => {
    const zoom = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
    if (zoom !== undefined) {
      const { window } = keys;
      keys.onWindow(zoomedBy(window, zoom, (window.from + window.to) / 2));
      return event.preventDefault();
    }
    const next = target(keys, event.key);
    if (!next) return;
    event.preventDefault();
    keys.virtual.scrollToIndex(next.lane, { align: "auto" });
    focus(keys, next);
  };
}

/** The bar that a key leads to; null for another key and at the end. */
function target({ stacked, active, window, width }: Keys, key: string): Place | null {
  const at = stacked.findIndex(({ lane }) => lane.id === active?.laneId);
  const rectsAt = (lane: number): Rect[] => {
    const found = stacked[lane];
    return found ? rectsOf(found, window, width) : [];
  };
  const here = rectsAt(at);
  const index = here.findIndex(({ span }) => span.id === active?.spanId);
  const current = here[index];
  if (!current) return null;
  const place = (lane: number, rect: Rect | null | undefined): Place | null =>
    rect ? { lane, spanId: rect.span.id } : null;
  const toward = (step: 1 | -1, count: number): Place | null => {
    // Lanes without a bar in the window are passed over.
    let last: Place | null = null;
    for (
      let lane = at + step, left = count;
      lane >= 0 && lane < stacked.length && left > 0;
      lane += step
    ) {
      const found = place(lane, nearest(rectsAt(lane), current.span.start));
      if (found) [last, left] = [found, left - 1];
    }
    return last;
  };
  switch (key) {
    case "ArrowRight":
      return place(at, here[index + 1]);
    case "ArrowLeft":
      return place(at, here[index - 1]);
    case "Home":
      return place(at, here[0]);
    case "End":
      return place(at, here.at(-1));
    case "ArrowDown":
      return toward(1, 1);
    case "ArrowUp":
      return toward(-1, 1);
    case "PageDown":
      return toward(1, PAGE);
    case "PageUp":
      return toward(-1, PAGE);
    default:
      return null;
  }
}

/** The bar may be rendered only after the scroll: it is looked for until the scroll has settled. */
function focus(
  { box, stacked }: Pick<Keys, "box" | "stacked">,
  { lane, spanId }: Place,
  tries = 20,
): void {
  const id = stacked[lane]?.lane.id ?? "";
  const bar = box.current?.querySelector<HTMLElement>(
    `[data-lane="${CSS.escape(id)}"] [data-span="${CSS.escape(spanId)}"]`,
  );
  if (bar) bar.focus({ preventScroll: true });
  else if (tries > 0)
    requestAnimationFrame(() => focus({ box, stacked }, { lane, spanId }, tries - 1));
}
