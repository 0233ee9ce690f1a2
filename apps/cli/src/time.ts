/** Times as people type them and as they are shown back: in the zone of this machine (TZ), and in UTC. */
import { usage } from "./exit.ts";

/** Either with its own offset, or what chrono reads as local. */
const ISO_WITH_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;
const RELATIVE = /^(?:\+|in\s)/i;
/** Days in numbers: read as month and day here, as day and month there. */
const AMBIGUOUS =
  /(?:^|\s)(?:\d{1,4}[./]\d{1,2}(?:[./]\d{1,4})?|\d{1,2}-\d{1,2}(?:-\d{1,4})?)(?:\s|$)/;
/** Each is a zone in more than one part of the world. */
const ZONES = /\b(?:IST|CST|BST|AST|GST|SST)\b/i;
/** By a clock of 24 hours, as long as nothing is said of the half of the day. */
const HOUR = /\b(\d{1,2}):\d{2}(?!\s*[ap]\.?m)/i;
/** The reader of words looks forward only, and would make a day to come of it. */
const OVER = /\b(?:last|ago|yesterday)\b|^past\b|\bin the past\b/i;
const FORMS =
  '"2026-12-07T09:00:00Z", "2026-12-07 09:00", "mon 09:00", "tomorrow 9am", "+2h" or "now"';

/**
 * The instant that a text names, milliseconds since the epoch. Nothing is rounded and nothing guessed: a day
 * without an hour is refused, and so is an hour that the day does not have.
 *
 * @param reference what `+2h` counts from, and what `mon` comes after
 * @throws Quit that names the flag
 */
export async function parseTime(text: string, flag: string, reference: number): Promise<number> {
  const trimmed = text.trim();
  if (ISO_WITH_ZONE.test(trimmed)) return checked(Date.parse(trimmed), { text, flag });
  if (AMBIGUOUS.test(trimmed))
    throw usage(`${flag} ${JSON.stringify(text)} can be read in more than one way: write ${FORMS}`);
  const zone = ZONES.exec(trimmed)?.[0];
  if (zone !== undefined)
    throw usage(
      `${flag} ${JSON.stringify(text)}: ${zone} is the name of several zones: write the offset, as in "2026-12-07T09:00:00+05:30"`,
    );
  if (OVER.test(trimmed))
    throw usage(`${flag} ${JSON.stringify(text)} names a time that is over: write ${FORMS}`);
  const chrono = await import("chrono-node/en");
  const from = new Date(reference);
  const [found, more] = chrono.parse(trimmed, from, { forwardDate: true });
  if (!found || more || found.end || found.text.length !== trimmed.length)
    throw usage(`${flag} ${JSON.stringify(text)} is no time that can be read: write ${FORMS}`);
  const { start } = found;
  const at = start.date();
  const isRelative = RELATIVE.test(trimmed) || trimmed === "now";
  if (!isRelative && !start.isCertain("hour"))
    throw usage(`${flag} ${JSON.stringify(text)} names no hour: write it as in "${trimmed} 09:00"`);
  if (start.isCertain("weekday") && start.get("weekday") !== at.getDay())
    throw usage(`${flag} ${JSON.stringify(text)}: that day is a ${weekday(at)}`);
  const hour = HOUR.exec(trimmed)?.[1];
  if (!isRelative && hour !== undefined && Number(hour) !== start.get("hour"))
    throw usage(`${flag} ${JSON.stringify(text)} can be read in more than one way: write ${FORMS}`);
  if (!isRelative && !start.isCertain("timezoneOffset"))
    checkClocks(at, { typed: [start.get("hour"), start.get("minute")], text, flag });
  return checked(at.getTime(), { text, flag });
}

/** A local time is one instant, but where clocks are put forward none and where they are put back two. */
function checkClocks(
  at: Date,
  said: {
    readonly typed: readonly [number | null, number | null];
    readonly text: string;
    readonly flag: string;
  },
): void {
  const { typed, text, flag } = said;
  const [hour, minute] = typed;
  const what = `${flag} ${JSON.stringify(text)}: clocks in ${zoneName()}`;
  if (hour !== at.getHours() || minute !== at.getMinutes())
    throw usage(`${what} pass over that hour on that day`);
  const twin = twinOf(at);
  if (twin === null) return;
  const both = [at, twin].map((date) => date.toISOString()).sort();
  throw usage(`${what} show that hour twice on that day: write ${both.join(" or ")}`);
}

/** The other instant at which clocks here show the same. */
function twinOf(at: Date): Date | null {
  const around = 3 * 3_600_000;
  const offset = (ms: number): number => new Date(at.getTime() + ms).getTimezoneOffset() * 60_000;
  const change = offset(around) - offset(-around);
  if (change <= 0) return null;
  const twins = [change, -change].map((ms) => new Date(at.getTime() + ms));
  return twins.find((twin) => twin.toLocaleString() === at.toLocaleString()) ?? null;
}

function checked(
  at: number,
  { text, flag }: { readonly text: string; readonly flag: string },
): number {
  if (Number.isNaN(at)) throw usage(`${flag} ${JSON.stringify(text)} is no time: write ${FORMS}`);
  return at;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options);
  const known =
    formats.get(key) ?? new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options });
  formats.set(key, known);
  return known;
}

const DAY = { weekday: "short", day: "numeric", month: "short" } as const;
const CLOCK = { hour: "2-digit", minute: "2-digit" } as const;

/** The zone of this machine, such as `Europe/Paris`. */
export const zoneName = (): string => format({}).resolvedOptions().timeZone;

const weekday = (at: Date): string => format({ weekday: "long" }).format(at);

/** The zone beside every time: `Mon 7 Dec 2026 09:00 CET`. */
export function local(at: number): string {
  const short = parts(at, { timeZoneName: "short" }).find(({ type }) => type === "timeZoneName");
  return `${words(at)} ${short?.value ?? ""}`;
}

/** `Mon 7 Dec 2026 08:00 UTC`. */
export const utc = (at: number): string => `${words(at, "UTC")} UTC`;

/** Both, and the day of UTC only where it is another one: `Mon 7 Dec 2026 09:00 CET (08:00 UTC)`. */
export function both(at: number): string {
  const here = local(at);
  if (isUtc(at)) return here;
  const isSameDay = format(DAY).format(at) === format({ ...DAY, timeZone: "UTC" }).format(at);
  return `${here} (${isSameDay ? `${clock(at, "UTC")} UTC` : utc(at)})`;
}

/** The clocks change between two instants. */
export const clocksChange = (from: number, to: number): boolean =>
  new Date(from).getTimezoneOffset() !== new Date(to).getTimezoneOffset();

const isUtc = (at: number) => new Date(at).getTimezoneOffset() === 0 && local(at).endsWith("UTC");

function words(at: number, timeZone?: string): string {
  const day = format({ ...DAY, year: "numeric", ...(timeZone ? { timeZone } : {}) }).format(at);
  return `${day.replace(",", "")} ${clock(at, timeZone)}`;
}

/** Seconds only where there are some. */
function clock(at: number, timeZone?: string): string {
  const seconds = at % 60_000 === 0 ? {} : ({ second: "2-digit" } as const);
  return format({ ...CLOCK, ...seconds, ...(timeZone ? { timeZone } : {}) }).format(at);
}

function parts(at: number, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormatPart[] {
  return format(options).formatToParts(at);
}

/** A length to read, its two largest units: `7 d`, `1 h 30 min`. */
export function length(ms: number): string {
  const units = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ] as const;
  let rest = Math.max(0, Math.round(ms / 1_000) * 1_000);
  const said: string[] = [];
  for (const [size, unit] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) said.push(`${count} ${unit}`);
  }
  return said.slice(0, 2).join(" ") || "0 s";
}
