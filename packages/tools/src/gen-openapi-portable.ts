/**
 * What strangers' tools need of a schema beside what ours do: how wide an integer is, the unit of a time in its
 * description, and patterns that are read alike without JavaScript's `u` flag.
 */
import { LIMITS, PATTERNS } from "@berth/contract";

type Node = Readonly<Record<string, unknown>>;
const INT32 = 2_147_483_647;
/** Under these are values, not schemas. */
const VALUES = new Set(["example", "examples", "default", "enum", "const"]);

/** Without Unicode's classes, which few other languages have. A text in JSON has no lone surrogates. */
const PORTABLE = new Map([[PATTERNS.text.source, "^[^\\u0000-\\u001F\\u007F-\\u009F]*$"]]);

/** The document with all of that. */
export function portable(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(portable);
  if (typeof node !== "object" || node === null) return node;
  const parts = Object.entries(node).map(([key, part]) => [
    key,
    VALUES.has(key) ? (part as unknown) : portable(part),
  ]);
  return timed(sized(patterned(Object.fromEntries(parts) as Node)));
}

function patterned(schema: Node): Node {
  const pattern = PORTABLE.get(schema["pattern"] as string);
  return pattern === undefined ? schema : { ...schema, pattern };
}

function sized(schema: Node): Node {
  if (schema["type"] !== "integer") return schema;
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  const narrow = Math.abs(minimum ?? Infinity) <= INT32 && (maximum ?? Infinity) <= INT32;
  return { ...schema, format: narrow ? "int32" : "int64" };
}

const UNIT = /millisecond/i;

function timed(schema: Node): Node {
  const { description } = schema;
  if (typeof description !== "string" || UNIT.test(description) || !isTime(schema)) return schema;
  return { ...schema, description: `${description} Milliseconds since the epoch.` };
}

function isTime(schema: Node): boolean {
  if (schema["type"] === "integer") return schema["maximum"] === LIMITS.timeMax;
  return Array.isArray(schema["anyOf"]) && (schema["anyOf"] as Node[]).some(isTime);
}
