/** Beginnings that people name: pure, in the viewer's zone. Working days begin at 09:00. */
import { fromAbsolute, toCalendarDateTime, toZoned } from "@internationalized/date";

const NINE = { hour: 9, minute: 0, second: 0, millisecond: 0 };
const DAYS_OF_WEEK = 7;

/** 09:00 of the day that is so many days from today. */
function morning(now: number, zone: string, days: number): number {
  const today = toCalendarDateTime(fromAbsolute(now, zone));
  // By the calendar and then the clock: over a change of the clocks 09:00 stays 09:00.
  return toZoned(today.add({ days }).set(NINE), zone).toDate().getTime();
}

export function tomorrow(now: number, zone: string): number {
  return morning(now, zone, 1);
}

/** Monday of next week; on a Monday the one in seven days. */
export function nextWeek(now: number, zone: string): number {
  const { year, month, day } = fromAbsolute(now, zone);
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return morning(now, zone, (DAYS_OF_WEEK + 1 - weekday) % DAYS_OF_WEEK || DAYS_OF_WEEK);
}
