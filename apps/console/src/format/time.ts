/** Instants as a person reads them: the zone stands beside every time. Pure: zone and now are arguments. */

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

/** The parts of an instant in a zone. */
function partsOf(at: number, zone: string): Readonly<Record<string, string>> {
  const parts = formatter(`parts ${zone}`, {
    timeZone: zone,
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(at);
  return Object.fromEntries(parts.map(({ type, value }) => [type, value]));
}

/**
 * The zone's name at an instant: `CET`, `EST`, or `GMT+9` where it has no short name. British English knows Europe's
 * names and American English America's, so both are asked.
 */
export function zoneName(at: number, zone: string): string {
  if (zone === "UTC") return "UTC";
  // Clocks are moved on quarters of an hour, and asking costs more than all the rest of a time.
  const key = `${zone} ${Math.floor(at / 900_000)}`;
  const known = zoneNames.get(key);
  if (known !== undefined) return known;
  if (zoneNames.size >= ZONE_NAMES_MAX) zoneNames.clear();
  const name = askZoneName(at, zone);
  zoneNames.set(key, name);
  return name;
}

const zoneNames = new Map<string, string>();
const ZONE_NAMES_MAX = 20_000;

function askZoneName(at: number, zone: string): string {
  const names = ["en-GB", "en-US"].map((locale) => {
    const key = `zone ${locale} ${zone}`;
    const known =
      made.get(key) ??
      new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: "short", hour: "numeric" });
    made.set(key, known);
    return known.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? zone;
  });
  return names.find((name) => !/^(?:GMT|UTC)[+-]/.test(name)) ?? names[0] ?? zone;
}

/**
 * `Mon 7 Dec 09:00 CET`; another year than `now` is named. `day`: `Mon 7 Dec`; `clock`: `09:00 CET`.
 */
export function timeText(
  at: number,
  zone: string,
  { style = "full", now }: { readonly style?: TimeStyle; readonly now?: number } = {},
): string {
  const part = partsOf(at, zone);
  const clock = `${part["hour"]}:${part["minute"]} ${zoneName(at, zone)}`;
  if (style === "clock") return clock;
  const year =
    now === undefined || partsOf(now, zone)["year"] === part["year"] ? "" : ` ${part["year"]}`;
  const day = `${part["weekday"]} ${part["day"]} ${part["month"]}${year}`;
  return style === "day" ? day : `${day} ${clock}`;
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
export function rangeText(start: number, end: number, zone: string): string {
  const [from, to] = [partsOf(start, zone), partsOf(end, zone)];
  const [first, last] = [zoneName(start, zone), zoneName(end, zone)];
  const sameDay = ["day", "month", "year"].every((part) => from[part] === to[part]);
  const clock = ({ hour, minute }: Readonly<Record<string, string>>): string => `${hour}:${minute}`;
  const begin = `${from["weekday"]} ${from["day"]} ${from["month"]} ${clock(from)}`;
  const until = sameDay ? clock(to) : `${to["weekday"]} ${to["day"]} ${to["month"]} ${clock(to)}`;
  // Over a change of the clocks both names are said, or the length seems wrong by an hour.
  return first === last ? `${begin} – ${until} ${last}` : `${begin} ${first} – ${until} ${last}`;
}

/** Whether a window holds a change of the clocks in the zone. */
export function crossesClockChange(start: number, end: number, zone: string): boolean {
  const offset = (at: number): number => {
    const part = formatter(`offset ${zone}`, {
      timeZone: zone,
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      hourCycle: "h23",
    })
      .formatToParts(at)
      .reduce<Record<string, number>>((all, { type, value }) => {
        all[type] = Number(value);
        return all;
      }, {});
    const local = Date.UTC(
      part["year"] ?? 0,
      (part["month"] ?? 1) - 1,
      part["day"] ?? 1,
      part["hour"] ?? 0,
      part["minute"] ?? 0,
      part["second"] ?? 0,
    );
    return Math.round((local - at) / 60_000);
  };
  return offset(start) !== offset(end);
}
