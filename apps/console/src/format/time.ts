/**
 * Instants as a person reads them: the zone stands beside every time, and the year where it is not the present one.
 * Pure when `now` is given; else the clock says which year it is, so that nobody can forget to.
 */

/** How a time is said. `day` names the day, `clock` the time of day alone. */
export type TimeStyle = "full" | "day" | "clock";

const LOCALE = "en-GB";

/** Formatters are slow to make and few: one for each style and zone. */
const made = new Map<string, Intl.DateTimeFormat>();

function formatter(key: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const known = made.get(key);
  if (known) return known;
  const fresh = new Intl.DateTimeFormat(LOCALE, options);
  made.set(key, fresh);
  return fresh;
}

type Parts = Readonly<Record<"weekday" | "day" | "month" | "year" | "hour" | "minute", string>>;

/** The parts of an instant in a zone, by arithmetic: a calendar says thousands of times. */
function partsOf(at: number, zone: string): Parts {
  const wall = new Date(at + offsetOf(at, zone));
  const two = (count: number): string => String(count).padStart(2, "0");
  return {
    weekday: WEEKDAYS[wall.getUTCDay()] ?? "",
    day: String(wall.getUTCDate()),
    month: MONTHS[wall.getUTCMonth()] ?? "",
    year: String(wall.getUTCFullYear()),
    hour: two(wall.getUTCHours()),
    minute: two(wall.getUTCMinutes()),
  };
}

const WORDS = { timeZone: "UTC", weekday: "short", month: "short" } as const;
const words = new Intl.DateTimeFormat(LOCALE, WORDS);
const wordOf = (at: number, type: "weekday" | "month"): string =>
  words.formatToParts(at).find((part) => part.type === type)?.value ?? "";
/** From Sunday on, as `Date` counts: 4 January 1970 was one. */
const WEEKDAYS = Array.from({ length: 7 }, (_, day) =>
  wordOf(Date.UTC(1970, 0, 4 + day), "weekday"),
);
const MONTHS = Array.from({ length: 12 }, (_, month) => wordOf(Date.UTC(1970, month, 4), "month"));

/** Clocks are moved on quarters of an hour, and asking costs more than all the rest of a time. */
const QUARTER_MS = 900_000;
const KNOWN_MAX = 20_000;

function byQuarter<T>(ask: (at: number, zone: string) => T): (at: number, zone: string) => T {
  const known = new Map<string, Map<number, T>>();
  return (at, zone) => {
    let ofZone = known.get(zone);
    if (!ofZone) known.set(zone, (ofZone = new Map()));
    const quarter = Math.floor(at / QUARTER_MS);
    const found = ofZone.get(quarter);
    if (found !== undefined) return found;
    if (ofZone.size >= KNOWN_MAX) ofZone.clear();
    const fresh = ask(at, zone);
    ofZone.set(quarter, fresh);
    return fresh;
  };
}

/** How far the zone's clocks are ahead of UTC, ms. */
const offsetOf = byQuarter((at, zone) => {
  const options = {
    timeZone: zone,
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
    hourCycle: "h23",
  } as const;
  const part = Object.fromEntries(
    formatter(`offset ${zone}`, options)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  return wall - Math.floor(at / 1_000) * 1_000;
});

/**
 * The zone's name at an instant: `CET`, `EST`, or `GMT+9` where it has no short name. British English knows Europe's
 * names and American English America's, so both are asked.
 */
export function zoneName(at: number, zone: string): string {
  return zone === "UTC" ? "UTC" : askedZoneName(at, zone);
}

const askedZoneName = byQuarter((at, zone) => {
  const names = ["en-GB", "en-US"].map((locale) => {
    const key = `zone ${locale} ${zone}`;
    const known =
      made.get(key) ??
      new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: "short", hour: "numeric" });
    made.set(key, known);
    return known.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? zone;
  });
  return names.find((name) => !/^(?:GMT|UTC)[+-]/.test(name)) ?? names[0] ?? zone;
});

/**
 * `Mon 7 Dec 09:00 CET`; another year than `now` is named. `day`: `Mon 7 Dec`; `clock`: `09:00 CET`.
 */
export function timeText(
  at: number,
  zone: string,
  { style = "full", now = Date.now() }: { readonly style?: TimeStyle; readonly now?: number } = {},
): string {
  const part = partsOf(at, zone);
  const clock = `${part.hour}:${part.minute} ${zoneName(at, zone)}`;
  if (style === "clock") return clock;
  const day = dayText(part, partsOf(now, zone).year);
  return style === "day" ? day : `${day} ${clock}`;
}

/** `Mon 7 Dec`, and the year when it is another one. */
function dayText({ weekday, day, month, year }: Parts, present: string): string {
  return `${weekday} ${day} ${month}${year === present ? "" : ` ${year}`}`;
}

/** `7 Dec 2026, 08:00:00 UTC`: what stands in the title of every time. */
export function utcText(at: number): string {
  const date = new Date(at);
  const day = formatter("utc day", {
    timeZone: "UTC",
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
  }).format(date);
  return `${day.replace(",", "")} ${date.toISOString().slice(11, 19)} UTC`;
}

/** From one instant to another, the day said once: `Mon 7 Dec 09:00 – 17:00 CET`. */
export function rangeText(
  { start, end }: { readonly start: number; readonly end: number },
  zone: string,
  now = Date.now(),
): string {
  const [from, to] = [partsOf(start, zone), partsOf(end, zone)];
  const [first, last] = [zoneName(start, zone), zoneName(end, zone)];
  const sameDay = (["day", "month", "year"] as const).every((part) => from[part] === to[part]);
  // Two times of the same minute are told apart by their seconds, and so is a length of seconds.
  const isShort = Math.abs(end - start) < 120_000;
  const clock = ({ hour, minute }: Parts, at: number): string =>
    isShort ? `${hour}:${minute}:${new Date(at).toISOString().slice(17, 19)}` : `${hour}:${minute}`;
  const { year } = partsOf(now, zone);
  const begin = `${dayText(from, year)} ${clock(from, start)}`;
  const until = sameDay ? clock(to, end) : `${dayText(to, year)} ${clock(to, end)}`;
  // Over a change of the clocks both names are said, or the length seems wrong by an hour.
  return first === last ? `${begin} – ${until} ${last}` : `${begin} ${first} – ${until} ${last}`;
}

/** Whether a window holds a change of the clocks in the zone. */
export function crossesClockChange(start: number, end: number, zone: string): boolean {
  return offsetOf(start, zone) !== offsetOf(end, zone);
}
