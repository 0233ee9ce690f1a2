/** Derived ids: the same facts give the same id, on every server and after every restart. */
import { createHash } from "node:crypto";
import { type Id, type IdPrefix, derivedId as encode } from "@berth/domain";

/**
 * `<prefix>_` + SHA-256 of a JSON array that starts with a domain tag. JSON keeps the parts apart: tenant
 * ids and keys may both hold `:`.
 */
export function derivedId<P extends IdPrefix>(
  prefix: P,
  tag: string,
  parts: readonly (string | number)[],
): Id<P> {
  const text = JSON.stringify([`berth/${prefix}/${tag}`, ...parts]);
  return encode(prefix, createHash("sha256").update(text).digest());
}
