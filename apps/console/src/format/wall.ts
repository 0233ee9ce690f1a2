/**
 * Wall times: what a person types as a day and a time of day, which a change of the clocks may skip or bring twice.
 * Pure.
 */
import { fromAbsolute, parseDateTime, toCalendarDateTime, toZoned } from "@internationalized/date";
import type { CalendarDateTime } from "@internationalized/date";
import { timeText, zoneName } from "./time.ts";

/** How often a wall time comes on its day, and the instants that may be meant. */
export interface Readings {
  readonly kind: "once" | "twice" | "never";
  /** Of a time that comes twice the first; of one that never comes the one as long after the gap as it was into it. */
  readonly usual: number;
  /** Of a time that comes twice the second; else as `usual`. */
  readonly second: number;
}

/** The instants of a wall time in a zone. */
export function readingsOf(wall: CalendarDateTime, zone: string): Readings {
  const at = (which: "earlier" | "later"): number => toZoned(wall, zone, which).toDate().getTime();
  const [first, second] = [at("earlier"), at("later")];
  if (first === second) return { kind: "once", usual: first, second };
  const comes = wall.compare(wallOf(first, zone)) === 0;
  return comes ? { kind: "twice", usual: first, second } : { kind: "never", usual: second, second };
}

/** The wall time of an instant. */
export function wallOf(at: number, zone: string): CalendarDateTime {
  return toCalendarDateTime(fromAbsolute(at, zone));
}

/** `2026-12-07T09:00` as a wall time; null when it is none. */
export function parseWall(text: string): CalendarDateTime | null {
  try {
    return text === "" ? null : parseDateTime(text);
  } catch {
    return null;
  }
}

/**
 * What has to be said of a wall time that the clocks skip or bring twice, and what is taken of it; null when there is
 * nothing to say.
 *
 * @param at what is taken of it
 */
export function wallNote(wall: CalendarDateTime, zone: string, at: number): string | null {
  const { kind, second } = readingsOf(wall, zone);
  if (kind === "once") return null;
  const typed = `${two(wall.hour)}:${two(wall.minute)}`;
  const day = timeText(at, zone, { style: "day" });
  if (kind === "never")
    return `${typed} does not exist on ${day}: the clocks are put forward over it. Taken is ${timeText(at, zone, { style: "clock" })}.`;
  const which = at === second ? "second" : "first";
  return `${typed} comes twice on ${day}, as the clocks are put back. Taken is the ${which}, in ${zoneName(at, zone)}.`;
}

/** A part of a date as a field shows it. */
export interface ShownPart {
  readonly type: string;
  readonly text: string;
  readonly isPlaceholder: boolean;
}

const DATE_PARTS = ["day", "month", "year", "hour", "minute"] as const;

/**
 * What is wrong with a date as it stands in a field; null when it is the field's value.
 *
 * @param held the field's value: of a date that does not exist the one before it
 */
export function typedFault(
  parts: readonly ShownPart[],
  held: { readonly [K in (typeof DATE_PARTS)[number]]?: number } | null,
): string | null {
  const shown = (type: string): ShownPart | undefined => parts.find((part) => part.type === type);
  if (DATE_PARTS.some((type) => shown(type)?.isPlaceholder))
    return "The date is not complete: day, month, year, hour and minute.";
  if (DATE_PARTS.every((type) => Number(shown(type)?.text) === held?.[type])) return null;
  const text = (["day", "month", "year"] as const).map((type) => shown(type)?.text ?? "");
  return `${text.join("/")} does not exist.`;
}

const two = (count: number): string => String(count).padStart(2, "0");
