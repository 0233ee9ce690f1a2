/** The window of a timeline by buttons: what a drag and a key do, for whoever does neither. */
import type { ReactNode } from "react";
import { rangeText } from "../format/time.ts";
import { Button } from "../ui/button.tsx";
import { zoomedBy } from "./model.ts";
import type { TimeWindow } from "./model.ts";
import styles from "./window-bar.module.css";

const DAY = 86_400_000;

/** Lengths to jump to; each begins a twelfth before now, so that what runs is in sight. */
export const LENGTHS = [
  { ms: DAY, name: "24 h" },
  { ms: 7 * DAY, name: "7 d" },
  { ms: 30 * DAY, name: "30 d" },
] as const;

/** A window of this length about the present, on whole hours: the same window for a whole hour asks nothing anew. */
export function windowAbout(now: number, ms: number): TimeWindow {
  const from = Math.floor((now - ms / 12) / 3_600_000) * 3_600_000;
  return { from, to: from + ms };
}

export interface WindowBarProps {
  readonly window: TimeWindow;
  readonly now: number;
  readonly zone: string;
  onWindow(window: TimeWindow): void;
}

export function WindowBar({ window, now, zone, onWindow }: WindowBarProps): ReactNode {
  const wide = window.to - window.from;
  const move = (share: number): void =>
    onWindow({ from: window.from + wide * share, to: window.to + wide * share });
  const middle = (window.from + window.to) / 2;
  return (
    <div className={styles["bar"]} role="toolbar" aria-label="Time shown">
      <div className={styles["group"]}>
        <Button size="small" label="Earlier" onPress={() => move(-0.5)}>
          <span aria-hidden="true">◀</span>
        </Button>
        <Button size="small" onPress={() => onWindow(windowAbout(now, wide))}>
          Now
        </Button>
        <Button size="small" label="Later" onPress={() => move(0.5)}>
          <span aria-hidden="true">▶</span>
        </Button>
      </div>
      <div className={styles["group"]}>
        {LENGTHS.map(({ ms, name }) => (
          <Button
            key={name}
            size="small"
            pressed={wide === ms}
            onPress={() => onWindow(windowAbout(now, ms))}
          >
            {name}
          </Button>
        ))}
      </div>
      <div className={styles["group"]}>
        <Button size="small" label="Zoom out" onPress={() => onWindow(zoomedBy(window, 2, middle))}>
          <span aria-hidden="true">−</span>
        </Button>
        <Button
          size="small"
          label="Zoom in"
          onPress={() => onWindow(zoomedBy(window, 0.5, middle))}
        >
          <span aria-hidden="true">+</span>
        </Button>
      </div>
      <span className={styles["range"]} aria-live="polite">
        {rangeText({ start: window.from, end: window.to }, zone, now)}
      </span>
    </div>
  );
}
