/**
 * The text of a key: `berth_<id>_<secret><crc>`. `id` is the key's id without its prefix, `secret` 32
 * base62 characters (190 random bits), `crc` 6: the CRC32 of all before it, so that a scanner can tell a
 * leaked key offline and a mistyped one costs no query. Only a SHA-256 of the text is kept.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import type { KeyId } from "@berth/domain";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 32;
const CRC_LENGTH = 6;

/** What leak scanners may look for. */
export const KEY_PATTERN = /^berth_([0-9a-hjkmnp-tv-z]{26})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

export type Random = (bytes: number) => Uint8Array;

/** The text of a key with this id and a new secret. */
export function makeToken(keyId: KeyId, random: Random): string {
  const head = `berth_${keyId.slice("key_".length)}_${randomBase62(SECRET_LENGTH, random)}`;
  return head + checksum(head);
}

/** The id that a well-formed, correctly typed key text names; null otherwise. No query. */
export function keyIdOf(token: string): KeyId | null {
  const match = KEY_PATTERN.exec(token);
  const head = token.slice(0, -CRC_LENGTH);
  if (!match?.[1] || checksum(head) !== match[3]) return null;
  return `key_${match[1]}`;
}

export function hashToken(token: string): Buffer {
  // In one piece: every call has its token hashed, and a hash object for it costs more than the hash.
  return hash("sha256", token, "buffer");
}

/** Whether two hashes are equal, in the same time whichever byte differs. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function checksum(head: string): string {
  let rest = crc32(head);
  let text = "";
  for (let i = 0; i < CRC_LENGTH; i += 1, rest = Math.floor(rest / 62))
    text = (BASE62[rest % 62] ?? "") + text;
  return text;
}

/** Bytes from 248 up are passed over, so that every character is equally likely. */
function randomBase62(length: number, random: Random): string {
  let text = "";
  while (text.length < length)
    for (const byte of random(length))
      if (byte < 248 && text.length < length) text += BASE62[byte % 62] ?? "";
  return text;
}
