/** Lengths of time, as people write and read them. */

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Milliseconds of `90m`, `2h 30m`, `7d`, `1w`, or null. A number alone is hours. */
export function parseDuration(text: string): number | null {
  const plain = text.trim().toLowerCase().replaceAll(/\s+/g, "");
  if (/^\d+(?:\.\d+)?$/.test(plain)) return Math.round(Number(plain) * UNITS.h) || null;
  if (!/^(?:\d{1,15}(?:ms|[smhdw]))+$/.test(plain)) return null;
  let total = 0;
  for (const [, count, unit] of plain.matchAll(/(\d{1,15})(ms|[smhdw])/g))
    total += Number(count) * UNITS[unit as keyof typeof UNITS];
  return total > 0 ? total : null;
}

/** What a field for a length takes. */
export const LENGTH_HINT = "Such as 4h, 7d or 1d12h; a number alone is hours";

/** Why what is typed is no length to add or to book; null: it is one. */
export function lengthFault(text: string): string | null {
  const plain = text.trim();
  if (parseDuration(plain) !== null) return null;
  if (plain === "") return "Say how long, such as 4h or 2d.";
  if (plain.startsWith("-")) return "A length is more than nothing: it cannot be below zero.";
  if (/^[0\s.]+(?:ms|[smhdw])?$/i.test(plain)) return "A length is more than nothing.";
  return "Such as 4h, 7d or 1d12h";
}

/** The two greatest parts: `7 d`, `2 h 30 min`, `45 s`. Never below `0 s`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor((seconds % 86_400) / 3_600), "h"],
    [Math.floor((seconds % 3_600) / 60), "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}

/** A length as the field takes it: `7d`, `2h30m`. */
export function durationInput(ms: number): string {
  let rest = ms;
  let text = "";
  for (const unit of ["d", "h", "m", "s"] as const) {
    const count = Math.floor(rest / UNITS[unit]);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * UNITS[unit];
  }
  return text || "0s";
}

/**
 * `in 3 h 59 min`, `5 min ago`, `now`: coarse, for what is glanced at. Rounded, never cut: to the second below a
 * minute, to the minute below a day, to the hour above.
 */
export function agoText(at: number, now: number): string {
  const ms = Math.abs(at - now);
  if (ms < 1_000) return "now";
  const step = ms < UNITS.m ? UNITS.s : ms < UNITS.d ? UNITS.m : UNITS.h;
  const words = durationText(Math.round(ms / step) * step);
  return at > now ? `in ${words}` : `${words} ago`;
}
