/** Numbers from the database, parsed in one place: beyond 2^53 a number would silently be another one. */

/** An int8 (text on the wire) as a number. */
export function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} does not fit a number`);
  return value;
}

/** A numeric, as sums of int8 are: whole ones must be exact. */
export function parseNumeric(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new RangeError(`numeric ${text} does not fit a number`);
  return value;
}

/** A number inside a JSON answer, which the driver's parsers never see. */
export function int(value: unknown): number {
  if (!Number.isSafeInteger(value))
    throw new RangeError(`${String(value)} is not an exact integer`);
  return Number(value);
}

export function intOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : int(value);
}
