/**
 * What is read of an answer: its plain JSON, and which of its fields are absent. The server writes superjson's
 * envelope `{ json, meta }`; the annotations of an envelope can do much more, and whoever answers in the server's
 * place would choose them, so nothing else of them is looked at.
 */

/** Marks beyond these are not looked at: the fields that they name stay null. */
const MARKS_MAX = 100_000;
/** Longer than any path of any answer. */
const PATH_MAX = 1_024;

/** The answer's value. @throws TypeError for what is no envelope */
export function readAnswer(envelope: unknown): unknown {
  if (!isRecord(envelope) || !Object.hasOwn(envelope, "json"))
    throw new TypeError("an answer without its envelope");
  const { json } = envelope;
  const meta = Object.hasOwn(envelope, "meta") ? envelope["meta"] : undefined;
  const values = isRecord(meta) && Object.hasOwn(meta, "values") ? meta["values"] : undefined;
  if (isAbsent(values)) return undefined;
  if (!isRecord(values)) return json;
  for (const path of Object.keys(values).slice(0, MARKS_MAX))
    if (path.length <= PATH_MAX && isAbsent(values[path])) dropField(json, path);
  return json;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isAbsent(mark: unknown): boolean {
  return Array.isArray(mark) && mark.length === 1 && mark[0] === "undefined";
}

/** Takes away a field that is there and null; makes nothing on the way, and leaves lists as they are. */
function dropField(root: unknown, path: string): void {
  const steps = path.split(/(?<!\\)\./).map((step) => step.replaceAll(/\\(.)/gs, "$1"));
  const last = steps.pop();
  let at = root;
  for (const step of steps) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return;
    at = (at as Record<string, unknown>)[step];
  }
  if (last === undefined || !isRecord(at) || !Object.hasOwn(at, last) || at[last] !== null) return;
  delete at[last];
}
