/** Lengths of time as people write them: milliseconds, ISO 8601 (`PT90M`, `P7D`) or short (`2h30m`). */
import { DEFAULT_HORIZON_MS, DEFAULT_MAX_DURATION_MS, type PoolPolicy } from "./model.ts";
import { invariant } from "./refusal.ts";

/** No instant and no length passes this: about 4,459 years of milliseconds. */
export const TIME_MAX: number = 2 ** 47;
export const DURATION_MIN_MS = 1_000;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const TEXT_MAX = 64;
const ISO = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;
const ISO_UNITS = [WEEK, DAY, HOUR, MINUTE, SECOND];
const SHORT = /^(?:\d+(?:ms|s|m|h|d|w))+$/;
const SHORT_PART = /(\d+)(ms|s|m|h|d|w)/g;
const SHORT_UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: DAY,
  w: WEEK,
};

const FORMS =
  'write whole milliseconds, "2h30m" (ms s m h d w) or ISO 8601 such as "PT90M" or "P7D"';

export type Duration =
  | { readonly ok: true; readonly ms: number }
  | { readonly ok: false; readonly message: string };

/**
 * Reads a duration. A number is milliseconds. At least one second, at most 2^47 ms, whole numbers only;
 * years and months have no fixed length and are refused.
 */
export function parseDuration(value: number | string): Duration {
  const parsed = typeof value === "number" ? fromNumber(value) : fromText(value);
  if (!parsed.ok) return parsed;
  if (parsed.ms < DURATION_MIN_MS) return no("a duration is at least 1 second");
  if (parsed.ms > TIME_MAX) return no("the duration is too long: at most 2^47 milliseconds");
  return parsed;
}

function fromNumber(ms: number): Duration {
  if (Number.isNaN(ms) || (!Number.isInteger(ms) && Number.isFinite(ms)))
    return no("a duration in milliseconds is a whole number");
  return { ok: true, ms };
}

function fromText(text: string): Duration {
  if (text.length > TEXT_MAX) return no(`a duration is at most ${TEXT_MAX} characters`);
  if (SHORT.test(text)) {
    let ms = 0;
    for (const [, count, unit] of text.matchAll(SHORT_PART))
      ms += Number(count) * (SHORT_UNITS[unit ?? ""] ?? 0);
    return { ok: true, ms };
  }
  if (!text.startsWith("P")) return no(`this is not a duration: ${FORMS}`);
  if (/\d[.,]\d/.test(text)) return no(`a duration has whole numbers only: ${FORMS}`);
  if (/^P[^T]*\d[YM]/.test(text))
    return no("years and months have no fixed length: use weeks (W), days (D) or hours (H)");
  const parts = ISO.exec(text)?.slice(1);
  // The pattern alone would let the empty "P", "PT" and "P1DT" pass.
  if (!parts || text.endsWith("T") || parts.every((part) => part === undefined))
    return no(`this is not an ISO 8601 duration: ${FORMS}`);
  const ms = parts.reduce((sum, part, at) => sum + Number(part ?? 0) * (ISO_UNITS[at] ?? 0), 0);
  return { ok: true, ms };
}

function no(message: string): Duration {
  return { ok: false, message };
}

/** The longest booking that the pool takes, in milliseconds. */
export function maxDurationMs(policy: PoolPolicy): number {
  return stored(policy.maxDuration, DEFAULT_MAX_DURATION_MS);
}

/** How far ahead of now a booking of the pool may start, in milliseconds. */
export function horizonMs(policy: PoolPolicy): number {
  return stored(policy.horizon, DEFAULT_HORIZON_MS);
}

function stored(value: number | string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  const parsed = parseDuration(value);
  invariant(parsed.ok, "a stored policy holds a duration that was checked");
  return parsed.ms;
}

/** A length for a sentence: the largest unit that divides it, so `7200000` reads `2 h`. */
export function formatDuration(ms: number): string {
  const units: readonly (readonly [number, string])[] = [
    [DAY, "d"],
    [HOUR, "h"],
    [MINUTE, "min"],
    [SECOND, "s"],
  ];
  for (const [size, name] of units)
    if (ms >= size && ms % size === 0) return `${ms / size} ${name}`;
  return `${ms} ms`;
}
