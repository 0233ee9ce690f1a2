/** The booking that is being drawn with keys, over its lane: it has the focus, and says where it is. */
import type { Virtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { ReactNode } from "react";
import { durationText } from "../format/duration.ts";
import { countText } from "../format/gpus.ts";
import { rangeText } from "../format/time.ts";
import { inTheWay } from "./draft.ts";
import { PAD_PX, ROW_PX } from "./lane-row.tsx";
import type { LaneView } from "./lane-row.tsx";
import styles from "./lanes.module.css";
import { toPixel } from "./model.ts";
import type { StackedLane } from "./model.ts";
import type { Drawn } from "./use-draft.ts";

export interface DraftBarProps {
  readonly drawing: Drawn;
  readonly stacked: readonly StackedLane[];
  readonly virtual: Virtualizer<HTMLDivElement, HTMLDivElement>;
  readonly view: Pick<LaneView, "window" | "width" | "zone">;
}

/** Nothing while nothing is drawn. */
export function DraftBar({ drawing, stacked, virtual, view }: DraftBarProps): ReactNode {
  const { draft, book, drop } = drawing;
  const lane = draft === null ? undefined : stacked[draft.at]?.lane;
  const { width, window, zone } = view;
  const bar = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    bar.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [draft]);
  if (draft === null || lane === undefined || width === 0) return null;
  const top = virtual.measurementsCache[draft.at]?.start ?? 0;
  const { from, to } = draft.window;
  const left = Math.max(0, toPixel(from, window, width));
  const right = Math.min(width, toPixel(to, window, width));
  const taken = inTheWay(lane, draft.window).length;
  const room = taken === 0 ? "free" : `${countText(taken, "booking")} there`;
  const where = `${lane.label}, ${rangeText({ start: from, end: to }, zone)}, ${durationText(to - from)}, ${room}`;
  return (
    <>
      <div className={styles["ground"]} data-draft>
        <button
          type="button"
          ref={bar}
          autoFocus
          className={styles["draft"]}
          aria-label={`New booking on ${where}. Enter opens the form.`}
          style={{ left, width: Math.max(3, right - left), top, height: ROW_PX + 2 * PAD_PX }}
          onClick={book}
          onBlur={drop}
        />
      </div>
      <span className="visually-hidden" role="status">
        {where}
      </span>
    </>
  );
}
