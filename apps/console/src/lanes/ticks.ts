/**
 * Where the time axis has its marks. They fall on round times of the viewer's wall clock, also on the days on which it
 * is moved: an hour that does not exist has no mark, and one that comes twice has one.
 */
import { fromAbsolute, toCalendarDate, toZoned } from "@internationalized/date";
import type { CalendarDate } from "@internationalized/date";
import type { TimeWindow } from "./model.ts";

/** A mark of the axis. */
export interface Tick {
  readonly at: number;
  /** A day begins here: drawn stronger, and labelled with the date. */
  readonly isDay: boolean;
}

const MINUTE = 60_000;
const DAY_MINUTES = 24 * 60;
/** Minutes between marks, below a day. */
const STEPS = [5, 15, 30, 60, 180, 360, 720] as const;
/** Days between marks. */
const DAY_STEPS = [1, 2, 7, 14, 28] as const;

/**
 * The marks of a window, in order, at most `most` of them.
 *
 * @param zone an IANA name such as `Europe/Berlin`
 */
export function ticksOf(window: TimeWindow, zone: string, most: number): Tick[] {
  const minutes = (window.to - window.from) / MINUTE;
  const step = STEPS.find((each) => minutes / each <= most);
  const days = DAY_STEPS.find((each) => minutes / DAY_MINUTES / each <= most) ?? 28;
  const ticks = step === undefined ? dayTicks(window, zone, days) : hourTicks(window, zone, step);
  return ticks.filter(({ at }) => at >= window.from && at < window.to);
}

function dayTicks(window: TimeWindow, zone: string, step: number): Tick[] {
  const ticks: Tick[] = [];
  // Counted from a fixed Monday, so that marks stay where they are while the window moves.
  let day = firstDay(window.from, zone);
  day = day.subtract({ days: daysSinceMonday(day) % step });
  for (; ; day = day.add({ days: step })) {
    const at = toZoned(day, zone).toDate().getTime();
    if (at >= window.to) return ticks;
    ticks.push({ at, isDay: true });
  }
}

function hourTicks(window: TimeWindow, zone: string, step: number): Tick[] {
  const ticks: Tick[] = [];
  for (let day = firstDay(window.from, zone); ; day = day.add({ days: 1 })) {
    const midnight = toZoned(day, zone);
    if (midnight.toDate().getTime() >= window.to) return ticks;
    // A day whose midnight does not exist begins with its first hour that does.
    let isDay = true;
    for (let minute = 0; minute < DAY_MINUTES; minute += step) {
      const wall = { hour: Math.floor(minute / 60), minute: minute % 60 };
      const zoned = midnight.set(wall);
      if (zoned.hour !== wall.hour || zoned.minute !== wall.minute) continue;
      ticks.push({ at: zoned.toDate().getTime(), isDay });
      isDay = false;
    }
  }
}

function firstDay(at: number, zone: string): CalendarDate {
  return toCalendarDate(fromAbsolute(at, zone));
}

function daysSinceMonday(day: CalendarDate): number {
  // Monday, 5 January 1970.
  return Math.round(day.toDate("UTC").getTime() / (DAY_MINUTES * MINUTE)) - 4;
}
