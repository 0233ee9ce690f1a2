/**
 * The lane timeline. Lanes are virtual rows, bars are real buttons placed by arithmetic, and what the window does not
 * show is not in the document. The tab key stops once; arrows go from bar to bar, over lanes that are not rendered yet.
 */
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { Range } from "@tanstack/react-virtual";
import { useCallback, useId, useMemo, useRef, useState } from "react";
import type { FocusEvent, KeyboardEvent, MouseEvent, ReactNode } from "react";
import { Axis } from "./axis.tsx";
import { DraftBar } from "./draft-bar.tsx";
import { LaneRow, PAD_PX, ROW_PX } from "./lane-row.tsx";
import type { LaneView } from "./lane-row.tsx";
import styles from "./lanes.module.css";
import { rectsOf, stack, toPixel } from "./model.ts";
import type { Lane, LaneSpan, StackedLane, TimeWindow } from "./model.ts";
import { ticksOf } from "./ticks.ts";
import { useDraft } from "./use-draft.ts";
import { useLaneKeys } from "./use-lane-keys.ts";
import { nameOnHover } from "../ui/name-on-hover.ts";
import { useWidth } from "./use-width.ts";

export interface LanesProps {
  /** What the lanes show, for a screen reader. */
  readonly label: string;
  readonly lanes: readonly Lane[];
  readonly window: TimeWindow;
  readonly now: number;
  readonly zone: string;
  /** The selected reservation: all of its bars are lit. */
  readonly selected: string | null;
  onWindow(window: TimeWindow): void;
  onSelect(span: LaneSpan, lane: Lane): void;
  /** A stretch was drawn on the empty part of a lane; absent: nothing can be drawn. */
  readonly onDraw?: ((lane: Lane, window: TimeWindow) => void) | undefined;
}

interface BarPlace {
  readonly laneId: string;
  readonly spanId: string;
}

/** Room that a mark of the axis needs. */
const TICK_PX = 96;

export function Lanes(props: LanesProps): ReactNode {
  const { label, lanes, window, now, zone, selected, onDraw, onSelect, onWindow } = props;
  const stacked = useMemo(() => lanes.map(stack), [lanes]);
  const [measure, width] = useWidth();
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<BarPlace | null>(null);
  const activeAt = active ? stacked.findIndex(({ lane }) => lane.id === active.laneId) : -1;
  const virtual = useLaneRows(stacked, box, activeAt);
  const view = useMemo<LaneView>(
    () => ({ window, width, zone, selected, onDraw }),
    [window, width, zone, selected, onDraw],
  );
  const ticks = useMemo(
    () => ticksOf(window, zone, Math.max(2, Math.floor(width / TICK_PX))),
    [window, zone, width],
  );
  const stop = tabStopOf(stacked, { active, rows: virtual.getVirtualItems(), window, width });
  const { drawing, onKeyDown } = useKeys({ ...props, stacked, active, width, virtual, box });
  const how = useId();
  const onBars = useBars({ lanes, onSelect, setActive });

  return (
    // It can be reached and scrolled by the keyboard also while there is no bar in it.
    <div
      ref={box}
      role="group"
      aria-label={label}
      aria-describedby={how}
      className={styles["box"]}
      onKeyDown={onKeyDown}
      {...onBars}
      onPointerOver={nameOnHover}
      tabIndex={stop === null ? 0 : undefined}
    >
      <How id={how} canDraw={onDraw !== undefined} />
      <div className={styles["sheet"]}>
        <Axis
          window={window}
          now={now}
          width={width}
          ticks={ticks}
          zone={zone}
          onWindow={onWindow}
        />
        <div className={styles["body"]} style={{ height: virtual.getTotalSize() }}>
          <div ref={measure} className={styles["ground"]} aria-hidden="true">
            {width > 0 && <Ground window={window} width={width} now={now} ticks={ticks} />}
          </div>
          {width > 0 &&
            virtual.getVirtualItems().map(({ index, start }) => {
              const lane = stacked[index];
              if (!lane) return null;
              const tabStop = stop?.laneId === lane.lane.id ? stop.spanId : null;
              return (
                <LaneRow
                  key={lane.lane.id}
                  stacked={lane}
                  view={view}
                  top={start}
                  tabStop={tabStop}
                />
              );
            })}
          <DraftBar drawing={drawing} stacked={stacked} virtual={virtual} view={view} />
        </div>
      </div>
    </div>
  );
}

interface BarsTold extends Pick<LanesProps, "lanes" | "onSelect"> {
  setActive(place: BarPlace): void;
}

/** The bar that an event came from; null beside the bars. */
function placeOf(target: EventTarget): BarPlace | null {
  const bar = (target as HTMLElement).closest<HTMLElement>("[data-span]");
  const laneId = bar?.closest<HTMLElement>("[data-lane]")?.dataset["lane"];
  const spanId = bar?.dataset["span"];
  return laneId === undefined || spanId === undefined ? null : { laneId, spanId };
}

/** What the bars tell: one listener for all, as a fast scroll makes more than a hundred bars in a frame. */
function useBars({ lanes, onSelect, setActive }: BarsTold) {
  const onFocus = ({ target }: FocusEvent<HTMLElement>): void => {
    const place = placeOf(target);
    if (place) setActive(place);
  };
  const onClick = ({ target }: MouseEvent<HTMLElement>): void => {
    const place = placeOf(target);
    const lane = lanes.find(({ id }) => id === place?.laneId);
    const span = lane?.spans.find(({ id }) => id === place?.spanId);
    if (lane && span) onSelect(span, lane);
  };
  return { onFocus, onClick };
}

/** What the keys do, for who is told of the lanes and does not see them. */
function How({ id, canDraw }: { readonly id: string; readonly canDraw: boolean }): ReactNode {
  return (
    <span id={id} hidden>
      Arrows go from bar to bar, plus and minus zoom.
      {canDraw &&
        " B draws a booking: arrows move it, with Shift its end, Page Up and Page Down by a day, Enter opens the form, Escape leaves it."}
    </span>
  );
}

/** A booking that is drawn has the keys first. */
function useKeys(keys: Parameters<typeof useDraft>[0] & Parameters<typeof useLaneKeys>[0]) {
  const onLaneKey = useLaneKeys(keys);
  const drawing = useDraft(keys);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    if (!drawing.onKey(event)) onLaneKey(event);
  };
  return { drawing, onKeyDown };
}

/** The lane that has the focus stays rendered, or the focus would be lost with it. */
function useLaneRows(
  stacked: readonly StackedLane[],
  box: { readonly current: HTMLDivElement | null },
  activeAt: number,
) {
  const rangeExtractor = useCallback(
    (range: Range) => {
      const shown = defaultRangeExtractor(range);
      return activeAt === -1 || activeAt >= range.count || shown.includes(activeAt)
        ? shown
        : [...shown, activeAt].toSorted((a, b) => a - b);
    },
    [activeAt],
  );
  // The same function as long as the lanes are: with a new one all of them are measured again at each scroll.
  const getItemKey = useCallback((index: number) => stacked[index]?.lane.id ?? index, [stacked]);
  return useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: stacked.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (stacked[index]?.rows ?? 1) * ROW_PX + 2 * PAD_PX,
    getItemKey,
    overscan: 4,
    rangeExtractor,
  });
}

interface Shown {
  readonly active: BarPlace | null;
  readonly rows: readonly { readonly index: number }[];
  readonly window: TimeWindow;
  readonly width: number;
}

/** The bar that had the focus last, else the first one that is rendered. */
function tabStopOf(stacked: readonly StackedLane[], { active, rows, window, width }: Shown) {
  let first: BarPlace | null = null;
  for (const { index } of rows) {
    const lane = stacked[index];
    const rects = lane ? rectsOf(lane, window, width) : [];
    if (lane?.lane.id === active?.laneId && rects.some(({ span }) => span.id === active?.spanId))
      return active;
    if (!first && lane && rects[0]) first = { laneId: lane.lane.id, spanId: rects[0].span.id };
    if (first && !active) return first;
  }
  return first;
}

interface GroundProps {
  readonly window: TimeWindow;
  readonly width: number;
  readonly now: number;
  readonly ticks: readonly { readonly at: number; readonly isDay: boolean }[];
}

/** Behind the bars: what is past, the marks of the axis, and the present. */
function Ground({ window, width, now, ticks }: GroundProps): ReactNode {
  const present = toPixel(now, window, width);
  return (
    <>
      {present > 0 && (
        <div className={styles["past"]} style={{ width: Math.min(width, present) }} />
      )}
      {ticks.map(({ at, isDay }) => (
        <div
          key={at}
          className={styles["gridline"]}
          data-day={isDay || undefined}
          style={{ left: toPixel(at, window, width) }}
        />
      ))}
      {present >= 0 && present <= width && (
        <div className={styles["now"]} style={{ left: present }} />
      )}
    </>
  );
}
