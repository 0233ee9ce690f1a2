/** The time axis: round times of the viewer's zone, and a drag on it zooms in. */
import type { ReactNode } from "react";
import { timeText, zoneName } from "../format/time.ts";
import styles from "./lanes.module.css";
import { toInstant, toPixel, zoomedBy, zoomedTo } from "./model.ts";
import type { TimeWindow } from "./model.ts";
import type { Tick } from "./ticks.ts";
import { useDrag } from "./use-drag.ts";

interface AxisProps {
  readonly window: TimeWindow;
  readonly now: number;
  readonly width: number;
  readonly ticks: readonly Tick[];
  readonly zone: string;
  onWindow(window: TimeWindow): void;
}

export function Axis({ window, now, width, ticks, zone, onWindow }: AxisProps): ReactNode {
  const { drag, onPointerDown } = useDrag(({ from, to }) =>
    onWindow(zoomedTo(toInstant(from, window, width), toInstant(to, window, width))),
  );
  const present = toPixel(now, window, width);
  const days = ticks.every(({ isDay }) => isDay);
  return (
    <div className={styles["axis"]} aria-hidden="true">
      <div className={styles["corner"]}>{zoneName(window.from, zone)}</div>
      <div
        className={styles["ruler"]}
        onPointerDown={onPointerDown}
        onDoubleClick={({ clientX, currentTarget }) => {
          const { left } = currentTarget.getBoundingClientRect();
          onWindow(zoomedBy(window, 2, toInstant(clientX - left, window, width)));
        }}
        title="Drag to zoom in, double-click to zoom out"
      >
        {ticks.map(({ at, isDay }) => (
          <span
            key={at}
            className={styles["tick"]}
            data-day={isDay || undefined}
            style={{ left: toPixel(at, window, width) }}
          >
            {isDay ? dayMark(at, zone) : clock(at, zone)}
          </span>
        ))}
        {!days && ticks[0]?.isDay === false && (
          <span className={styles["firstDay"]} style={{ left: beside(present) }}>
            {dayMark(window.from, zone)}
          </span>
        )}
        {now >= window.from && now <= window.to && (
          <span className={styles["nowMark"]} style={{ left: present }}>
            now
          </span>
        )}
        {drag && (
          <div
            className={styles["drawn"]}
            style={{ left: Math.min(drag.from, drag.to), width: Math.abs(drag.to - drag.from) }}
          />
        )}
      </div>
    </div>
  );
}

/** Widths of the day's name and of half the mark of the present, pixels. */
const DAY_PX = 96;
const NOW_PX = 22;

/** Where the first day is named: at the left, or after the present where that would lie on it. */
function beside(present: number): number {
  return present > -NOW_PX && present < DAY_PX ? present + NOW_PX : 0;
}

/** The year stands beside the window's length: at every mark it would leave no room for the marks. */
function dayMark(at: number, zone: string): string {
  return timeText(at, zone, { style: "day", now: at });
}

/** The zone stands in the corner of the axis: repeating it at every mark would leave no room for the marks. */
function clock(at: number, zone: string): string {
  return timeText(at, zone, { style: "clock" }).slice(0, 5);
}
