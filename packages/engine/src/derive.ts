/** Derived ids: the same facts give the same id, on every server and after every restart. */
import { type DeriveId, derivedId } from "@berth/domain";
import { hash } from "node:crypto";

/**
 * `<prefix>_` + SHA-256 of a JSON array that starts with a domain tag. JSON keeps the parts apart: tenant
 * ids and keys may both hold `:`.
 */
export const derive: DeriveId = (prefix, tag, parts) => {
  const text = JSON.stringify([`berth/${prefix}/${tag}`, ...parts]);
  return derivedId(prefix, hash("sha256", text, "buffer"));
};
