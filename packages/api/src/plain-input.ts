/**
 * The input side of the transformer. Clients write superjson's envelope `{ json, meta }`; what is read of
 * it is the plain JSON and which object fields are `undefined`. superjson itself never sees what a caller
 * sent: 124 kB of annotations hold the event loop for seconds, and a sparse index ends the process.
 */

/** As many as a full putNodes call of a client that spells out every absent field. */
const UNDEFINED_MAX = 20_000;
/** Longer than any path of any input. */
const PATH_MAX = 1_024;

/** @throws Error when the envelope is not of that form; the caller gets INVALID_INPUT */
export function readInput(envelope: unknown): unknown {
  if (envelope === undefined) return undefined;
  if (!isRecord(envelope) || !Object.hasOwn(envelope, "json"))
    throw new Error("the input must be an envelope { json }");
  const { json } = envelope;
  const meta = Object.hasOwn(envelope, "meta") ? envelope["meta"] : undefined;
  const values = isRecord(meta) && Object.hasOwn(meta, "values") ? meta["values"] : undefined;
  if (values === undefined || values === null) return json;
  if (isUndefinedMark(values)) return undefined;
  if (!isRecord(values)) throw new Error("meta.values must be a map of paths");
  const paths = Object.keys(values);
  if (paths.length > UNDEFINED_MAX) throw new Error("meta.values names too many paths");
  for (const path of paths) {
    if (!isUndefinedMark(values[path])) throw new Error("meta.values may only mark undefined");
    dropField(json, splitPath(path));
  }
  return json;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isUndefinedMark(value: unknown): boolean {
  return Array.isArray(value) && value.length === 1 && value[0] === "undefined";
}

/** superjson writes a dot inside a key as `\.` and a backslash as `\\`. */
function splitPath(path: string): string[] {
  if (path.length > PATH_MAX) throw new Error("meta.values names too long a path");
  if (!path.includes("\\")) return path.split(".");
  return [...path.matchAll(/(?:\\.|[^.\\])+|(?<=^|\.)(?=\.|$)/gs)].map(([step]) =>
    step.replaceAll(/\\(.)/gs, "$1"),
  );
}

/** Nothing is made on the way: a path that leads nowhere is refused, so no index can grow an array. */
function dropField(root: unknown, path: readonly string[]): void {
  let at = root;
  for (const step of path.slice(0, -1)) at = child(at, step);
  const last = path.at(-1);
  if (last === undefined || child(at, last) !== null)
    throw new Error("meta.values must name a null field");
  if (!isRecord(at)) throw new Error("undefined may not stand in a list");
  delete at[last];
}

function child(value: unknown, step: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step))
    throw new Error("meta.values names a path that is not there");
  return (value as Record<string, unknown>)[step];
}
