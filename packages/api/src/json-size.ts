/**
 * How much a text of JSON holds, read off its bytes before anything is made of them: a megabyte of names takes the
 * parser and those who walk after it a third of a second, and this a few milliseconds, less when it is too much.
 */

import { randomBytes } from "node:crypto";

/** The most that a text may hold. */
export interface JsonLimits {
  /** Values of all kinds, lists and objects counted too. */
  readonly values: number;
  /** Members of one object. */
  readonly fields: number;
  /** Entries of one list. */
  readonly entries: number;
  /** Different names of members, over the whole text: each costs the parser more than the one before. */
  readonly names: number;
}

/** The texts that are followed by a colon: of JSON, the members of all its objects. */
export interface JsonSize {
  readonly members: number;
}

/** Nobody outside knows which names would count as one. */
const SEED = randomBytes(4).readUInt32LE();
const PRIME = 0x01000193;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const isSpace = (code: number | undefined): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/**
 * Reads JSON's marks outside of its texts. Of bytes that are not JSON it says something, and the parser says that.
 *
 * @param tooMuch makes the error of what there is too much of, in words
 */
export function measureJson(
  bytes: Uint8Array,
  { values, fields, entries, names }: JsonLimits,
  tooMuch: (words: string) => Error,
): JsonSize {
  /** Of each list and object that is open: how many parts it has so far, and which of the two it is. */
  const counts: number[] = [];
  const isList: boolean[] = [];
  const hashes = new Set<number>();
  let [seen, members, isNew] = [1, 0, false];
  /** The text that was read last. */
  let [from, to] = [0, 0];
  const part = (): void => {
    if ((seen += 1) > values) throw tooMuch(`the input has more than ${values} values`);
    const top = counts.length - 1;
    const count = (counts[top] ?? 0) + 1;
    counts[top] = count;
    const [most, noun] = isList[top] ? [entries, "entries"] : [fields, "fields"];
    if (count > most) throw tooMuch(`a part of the input has more than ${most} ${noun}`);
  };
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at];
    if (isSpace(code)) continue;
    if (code === COLON) {
      members += 1;
      hashes.add(hashOf(bytes, from, to));
      if (hashes.size > names) throw tooMuch(`the input has more than ${names} different names`);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      counts.pop();
      isList.pop();
      isNew = false;
    } else if (code === COMMA) part();
    else {
      if (isNew) part();
      isNew = code === OPEN_LIST || code === OPEN_OBJECT;
      if (isNew) {
        counts.push(0);
        isList.push(code === OPEN_LIST);
      } else if (code === QUOTE) {
        from = at;
        at = endOfText(bytes, at);
        to = at;
      }
    }
  }
  return { members };
}

/** FNV-1a, 32 bits, from a seed of this process. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = SEED;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
  return hash;
}

/** Where the text that begins here ends; the end of the bytes when it does not. */
function endOfText(bytes: Uint8Array, quote: number): number {
  let end = quote + 1;
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return end;
}
