/**
 * JSON that has one reading. What two readers could take for two things is refused, so that nothing between a
 * caller and a pool decides on another value than we do: bytes that are not UTF-8, a mark in front, a name
 * given twice, a number that no double holds, and names that reach a prototype.
 */

import { tooMuch } from "./input-size.ts";
import { type JsonLimits, measureJson } from "./json-size.ts";

/** Where somebody else has bounded the bytes themselves. */
const ANY_SIZE: JsonLimits = {
  values: Infinity,
  fields: Infinity,
  entries: Infinity,
  names: Infinity,
};

/** Why bytes are not such JSON, as the end of a sentence; "" where there is no more to say than that. */
export class NotJson extends Error {
  readonly why: string;
  constructor(why: string) {
    super(why === "" ? "not JSON" : `not JSON: ${why}`);
    this.name = "NotJson";
    this.why = why;
  }
}

export interface StrictJson {
  readonly text: string;
  /** Undefined where there is nothing but white space. */
  readonly value: unknown;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * @param limits what is counted before it is parsed
 * @throws NotJson, or ApiError INVALID_INPUT naming what there is too much of
 */
export function strictJson(bytes: Uint8Array, limits: JsonLimits = ANY_SIZE): StrictJson {
  const text = decoded(bytes);
  if (text.trim() === "") return { text: "", value: undefined };
  const { members } = measureJson(bytes, limits, tooMuch);
  const value = parsed(text);
  checkMembers(value, members);
  return { text, value };
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new NotJson("it is not UTF-8");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new NotJson(text.startsWith("\uFEFF") ? "it begins with a byte order mark" : "");
  }
}

/** The parser keeps the last of two members of one name; so there are fewer of them than the text has. */
function checkMembers(value: unknown, written: number): void {
  let members = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const at = open.pop();
    if (typeof at === "number" && !Number.isFinite(at)) throw new NotJson("a number is too large");
    if (typeof at !== "object" || at === null) continue;
    if (Array.isArray(at)) {
      for (const entry of at) open.push(entry);
      continue;
    }
    for (const [name, part] of Object.entries(at)) {
      members += 1;
      if (name === "__proto__" || (name === "constructor" && reachesPrototype(part)))
        throw new NotJson(`the name "${name}" is not taken`);
      open.push(part);
    }
  }
  if (written !== members) throw new NotJson("a name is given twice in one object");
}

function reachesPrototype(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
}
