/** Times as text, where callers of the unit reservations' own API write and read them: RFC 3339, an offset in it. */
import { z } from "zod";
import { LIMITS, PATTERNS } from "./common.ts";

/** Milliseconds since the epoch, finer parts cut off; null for what is no time. A leap second is none. */
export function parseTimeText(text: string): number | null {
  if (!PATTERNS.timeText.test(text)) return null;
  const [date, clock, rest] = [text.slice(0, 10), text.slice(11, 19), text.slice(19)];
  const fraction = /^\.(\d{1,3})/.exec(rest)?.[1] ?? "";
  const local = Date.parse(`${date}T${clock}.${fraction.padEnd(3, "0")}Z`);
  // A day that its month does not have is none, or carried over into the next month.
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(date)) return null;
  const [, sign = "+", hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)$/.exec(rest) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === "-" ? local + offset : local - offset;
}

/** As UTC, to the millisecond. */
export function timeText(time: number): string {
  return new Date(time).toISOString();
}

const EXAMPLE = "2026-08-13T16:00:00+02:00";

export const givenTime: z.ZodString = z
  .string()
  .max(LIMITS.timeText, { abort: true })
  .regex(PATTERNS.timeText, {
    error: `must be a time with its offset, as "${EXAMPLE}" or with Z for UTC`,
    abort: true,
  })
  .refine(
    (text) => {
      const time = parseTimeText(text);
      return time !== null && time >= 0 && time <= LIMITS.timeMax;
    },
    { error: "must be a day of the calendar, from 1970 to the year 6429" },
  );

/** A time in an answer. */
export const toldTime: z.ZodString = z.string().max(LIMITS.timeText).regex(PATTERNS.timeText);
