/**
 * Ids: `<prefix>_` + lower-case Crockford base32. 26 characters carry 128 fresh bits (48 of time,
 * 80 of randomness, so ids sort by birth); 52 carry the 256 bits of a SHA-256 (derived ids).
 */

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Prefix of every kind of id. */
export const ID_PREFIXES = [
  "pool",
  "site",
  "node",
  "unit",
  "prj",
  "pacct",
  "rsv",
  "ursv",
  "mnt",
  "key",
  "evt",
] as const;
export type IdPrefix = (typeof ID_PREFIXES)[number];
export type Id<P extends IdPrefix> = `${P}_${string}`;

export type PoolId = Id<"pool">;
export type SiteId = Id<"site">;
export type NodeId = Id<"node">;
export type UnitId = Id<"unit">;
export type ProjectId = Id<"prj">;
export type ProviderAccountId = Id<"pacct">;
export type ReservationId = Id<"rsv">;
export type UnitReservationId = Id<"ursv">;
export type MaintenanceId = Id<"mnt">;
export type KeyId = Id<"key">;
export type EventId = Id<"evt">;
export type TenantId = string;

/** What a gate row is keyed by: the pool, or the node while it is in no pool. */
export type GateId = PoolId | NodeId;

/** The pattern of an id with this prefix, as the contract publishes it. */
export function idPattern(prefix: IdPrefix): RegExp {
  return new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26,52}$`);
}

/** Lower-case Crockford base32 of the bytes, most significant bit first, padded with zero bits. */
export function encodeBase32(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(buffer >> bits) & 31];
    }
  }
  if (bits > 0) text += ALPHABET[(buffer << (5 - bits)) & 31];
  return text;
}

/**
 * A fresh, time-ordered id: 6 bytes of `now` and the caller's 10 random bytes.
 * @param now milliseconds since the epoch
 * @param random at least 10 random bytes
 */
export function freshId<P extends IdPrefix>(prefix: P, now: number, random: Uint8Array): Id<P> {
  const bytes = new Uint8Array(16);
  for (let i = 0, rest = now; i < 6; i += 1, rest = Math.floor(rest / 256))
    bytes[5 - i] = rest % 256;
  bytes.set(random.subarray(0, 10), 6);
  return `${prefix}_${encodeBase32(bytes)}`;
}

/** A derived id from a 32-byte digest. What is hashed is the caller's: a JSON array with a domain tag. */
export function derivedId<P extends IdPrefix>(prefix: P, digest: Uint8Array): Id<P> {
  return `${prefix}_${encodeBase32(digest)}`;
}

/** Hashes a tag and parts to an id: the same parts are the same thing for ever. Given by the caller. */
export type DeriveId = <P extends IdPrefix>(
  prefix: P,
  tag: string,
  parts: readonly (string | number)[],
) => Id<P>;
