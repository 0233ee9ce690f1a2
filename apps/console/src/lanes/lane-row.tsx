/** One lane: its name, and a button for each span that the window shows. */
import { memo, useDeferredValue, useMemo } from "react";
import type { ReactNode } from "react";
import { rangeText } from "../format/time.ts";
import { cx } from "../ui/cx.ts";
import { stepOf } from "./draft.ts";
import styles from "./lanes.module.css";
import { drawn, rectsOf, toInstant } from "./model.ts";
import type { Lane, Rect, SpanKind, StackedLane, TimeWindow } from "./model.ts";
import { useDrag } from "./use-drag.ts";

/** Height of a row of bars, and what is above and below them, in pixels; the first row's top is in the styles as well. */
export const ROW_PX = 22;
export const PAD_PX = 5;

/** What a kind is called, for the name of a bar and the key below the lanes. */
export const KIND_TEXT: Readonly<Record<SpanKind, string>> = {
  mine: "mine",
  spot: "mine, spot",
  booked: "booked",
  withheld: "set aside",
  maintenance: "maintenance",
};

/** What differs besides the colour. A letter of the bar's own text: a pseudo-element of each bar is a box more. */
export const KIND_GLYPH: Readonly<Record<SpanKind, string>> = {
  mine: "●",
  spot: "~",
  booked: "■",
  withheld: "▨",
  maintenance: "×",
};

/** What all lanes share. */
export interface LaneView {
  readonly window: TimeWindow;
  readonly width: number;
  readonly zone: string;
  readonly selected: string | null;
  readonly onDraw?: ((lane: Lane, window: TimeWindow) => void) | undefined;
}

interface RowProps {
  readonly stacked: StackedLane;
  readonly view: LaneView;
  readonly top: number;
  /** The bar that the tab key reaches, when it is in this lane. */
  readonly tabStop: string | null;
}

interface BarPlace {
  readonly lane: Lane;
  readonly view: LaneView;
  /** Whether the tab key stops here. */
  readonly isStop: boolean;
}

export const LaneRow = memo(function LaneRow({ stacked, view, top, tabStop }: RowProps): ReactNode {
  const { lane, rows } = stacked;
  const { onDraw, width, window } = view;
  const draw = onDraw
    ? ({ from, to }: { from: number; to: number }): void =>
        onDraw(
          lane,
          drawn(toInstant(from, window, width), toInstant(to, window, width), stepOf(window)),
        )
    : undefined;
  const { drag, onPointerDown } = useDrag(draw);
  // The same rectangles as long as nothing moved.
  const rects = useMemo(() => rectsOf(stacked, window, width), [stacked, window, width]);
  const height = rows * ROW_PX + 2 * PAD_PX;
  // A lane that has just come in is shown before its bars are made: a fast scroll waits for none of them.
  const hasBars = useDeferredValue(true, false);
  return (
    <div
      role="group"
      aria-label={lane.label}
      data-lane={lane.id}
      className={styles["lane"]}
      style={{ top, height }}
    >
      <div
        className={styles["name"]}
        title={lane.note ? `${lane.label}, ${lane.note}` : lane.label}
      >
        {lane.label}
        {lane.note && <small> {lane.note}</small>}
      </div>
      <div
        className={styles["track"]}
        data-drawable={draw !== undefined}
        onPointerDown={onPointerDown}
      >
        {hasBars &&
          rects.map((rect) => bar(rect, { lane, view, isStop: rect.span.id === tabStop }))}
        {drag && (
          <div
            className={styles["drawn"]}
            style={{ left: Math.min(drag.from, drag.to), width: Math.abs(drag.to - drag.from) }}
          />
        )}
      </div>
    </div>
  );
});

/**
 * A plain function and no component, without handlers of its own: a fast scroll makes more than a hundred bars in a
 * frame. What is pressed and what has the focus is told by the box around all lanes.
 */
function bar(rect: Rect, { lane, isStop, view }: BarPlace): ReactNode {
  const { cut, left, row, span, width } = rect;
  const when = rangeText(span, view.zone);
  const hasText = width > 58;
  const glyph = width > 13 ? KIND_GLYPH[span.kind] : null;
  const isSelected = span.reservationId !== null && span.reservationId === view.selected;
  return (
    <button
      key={span.id}
      type="button"
      className={cx(
        styles["bar"],
        styles[span.kind],
        hasText ? null : styles["short"],
        cut.start && styles["cutStart"],
        cut.end && styles["cutEnd"],
      )}
      data-span={span.id}
      aria-label={`${span.label}, ${KIND_TEXT[span.kind]}, ${lane.label}, ${when}`}
      // What others hold cannot be chosen: it is there to be read.
      aria-pressed={span.reservationId === null ? undefined : isSelected}
      tabIndex={isStop ? 0 : -1}
      style={row === 0 ? { left, width } : { left, width, top: PAD_PX + row * ROW_PX }}
    >
      {hasText ? `${glyph} ${span.label}` : glyph}
    </button>
  );
}
