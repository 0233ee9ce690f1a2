/**
 * How much an input may hold before anything looks at what it says. A schema reports every field that is
 * wrong, so half a million wrong ones hold the event loop for seconds: they are refused by their number.
 */
import type { MethodName } from "@berth/contract";
import { ApiError } from "./errors.ts";
import type { JsonLimits } from "./json-size.ts";

/** Twice the longest list and the largest object or map of any input. */
const LIST_MAX = 1_000;
const FIELDS_MAX = 128;
/** Values of all kinds, lists and objects counted too. A full report of nodes is by far the largest input. */
const VALUES_MAX = 20_000;
const NODE_VALUES_MAX = 400_000;

/** What tRPC's envelope may say beside the input: each field that is `undefined`, and the other calls of a batch. */
const ENVELOPE = 2;
/** A full report of a client that spells out every absent field names so many of them. */
const NODE_UNDEFINED_MAX = 20_000;

/** Names are those of fields and of labels; what tRPC's envelope says of a field has the field's path for a name. */
const NAMES_MAX = 4_000;
const NODE_NAMES_MAX = 20_000;

const valuesOf = (method: string): number =>
  method === "fleet.putNodes" ? NODE_VALUES_MAX : VALUES_MAX;

/** What the body of a call may hold, as it is counted before it is parsed. @param method `unknown` of a batch */
export function bodyLimits(method: string, surface: "rest" | "trpc"): JsonLimits {
  const values = valuesOf(method);
  const names = method === "fleet.putNodes" ? NODE_NAMES_MAX : NAMES_MAX;
  if (surface === "rest") return { values, names, fields: FIELDS_MAX, entries: LIST_MAX };
  const fields = method === "fleet.putNodes" ? NODE_UNDEFINED_MAX : LIST_MAX;
  return { values: ENVELOPE * values, names: ENVELOPE * names, fields, entries: LIST_MAX };
}

/** @throws ApiError INVALID_INPUT naming what there is too much of */
export function checkInputSize(method: MethodName, input: unknown): void {
  const most = valuesOf(method);
  const open: unknown[] = [input];
  for (let seen = 1; open.length > 0; seen += 1) {
    if (seen > most) throw tooMuch(`the input has more than ${most} values`);
    const value = open.pop();
    if (typeof value !== "object" || value === null) continue;
    const parts = Array.isArray(value) ? value : Object.values(value);
    const [max, noun] = Array.isArray(value) ? [LIST_MAX, "entries"] : [FIELDS_MAX, "fields"];
    if (parts.length > max)
      throw tooMuch(
        `a part of the input has ${parts.length} ${noun}; no part has more than ${max}`,
      );
    for (const part of parts) open.push(part);
  }
}

export function tooMuch(message: string): ApiError {
  return new ApiError("INVALID_INPUT", { message, issues: [{ path: [], message }] });
}
