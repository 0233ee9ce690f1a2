/**
 * Keys at the door: from a bearer token to a principal. What the database said of a key is believed for
 * at most `KEY_CACHE_MS`, so a revoked key is refused everywhere within 5 s; its expiry is exact.
 */
import type { Database } from "@berth/db";
import type { KeyId, TenantId } from "@berth/domain";
import { derive } from "@berth/engine";
import type { KeyPrincipal, KeyScope, Log, Role } from "../call.ts";
import { keyPrincipal } from "./principal.ts";
import { hashToken, keyIdOf, sameHash } from "./token.ts";

const KEY_CACHE_MS = 3_000;
const CACHED_MAX = 50_000;
/** `lastUsedAt` moves at most this often for one key. */
const USED_EVERY_MS = 60_000;
/** How often the list of keys that are not in our own form is read again. */
const FREE_FORM_EVERY_MS = 5_000;
const TOKEN_MAX = 512;
export const FREE_FORM_MIN = 32;

interface KeyRow {
  readonly id: KeyId;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly role: Role;
  readonly scope: KeyScope | null;
  readonly hash: Uint8Array;
  readonly expiresAt: string | number | null;
  readonly now: string | number;
}

interface Cached {
  readonly principal: KeyPrincipal;
  readonly hash: Uint8Array;
  /** On the process's monotonic clock. */
  readonly freshUntil: number;
  readonly expiresAt: number;
}

export interface Keys {
  /** The principal of a token; null for one that is unknown, mistyped, revoked or expired. */
  authenticate(token: string): Promise<KeyPrincipal | null>;
  /** Forgets what is cached of a key: this process refuses a revoked one at once. */
  forget(keyId: KeyId): void;
}

/** The id of a key whose text is not in our own form: the bootstrap token may be any long secret. */
export function freeFormId(token: string): KeyId {
  return derive("key", "token", [token]);
}

export function createKeys(db: Database, log: Log): Keys {
  const cache = new Map<KeyId, Cached>();
  const usedAt = new Map<KeyId, number>();
  const freeForm = freeFormKeys(db);

  const load = async (keyId: KeyId): Promise<Cached | null> => {
    const asked = performance.now();
    const row = await findKey(db, keyId);
    if (!row) return null;
    const left = row.expiresAt === null ? Infinity : Number(row.expiresAt) - Number(row.now);
    const entry = {
      principal: keyPrincipal({
        keyId: row.id,
        tenantId: row.tenantId,
        name: row.name,
        role: row.role,
        scope: row.scope,
        expiresAt: row.expiresAt === null ? null : Number(row.expiresAt),
      }),
      hash: row.hash,
      freshUntil: asked + KEY_CACHE_MS,
      expiresAt: asked + left,
    };
    if (cache.size >= CACHED_MAX) cache.clear();
    cache.set(keyId, entry);
    return entry;
  };

  /** However many ask for a key at once, streams that are asked about again above all, the database is asked once. */
  const loading = new Map<KeyId, Promise<Cached | null>>();
  const loadOnce = (keyId: KeyId): Promise<Cached | null> => {
    const begun = loading.get(keyId);
    if (begun) return begun;
    const asked = load(keyId).finally(() => {
      if (loading.get(keyId) === asked) loading.delete(keyId);
    });
    loading.set(keyId, asked);
    return asked;
  };

  return {
    async authenticate(token) {
      if (token.length > TOKEN_MAX) return null;
      const keyId = keyIdOf(token) ?? (await freeForm(token));
      if (keyId === null) return null;
      const now = performance.now();
      const hash = hashToken(token);
      const known = cache.get(keyId);
      // Another secret is asked about as an unknown id is: what it costs does not tell that there is such a key.
      const spares = known && known.freshUntil > now && sameHash(hash, known.hash);
      const entry = spares ? known : await loadOnce(keyId);
      if (!entry) cache.delete(keyId);
      if (!entry || !sameHash(hash, entry.hash) || entry.expiresAt <= now) return null;
      if ((usedAt.get(keyId) ?? -Infinity) + USED_EVERY_MS <= now) {
        if (usedAt.size >= CACHED_MAX) usedAt.clear();
        usedAt.set(keyId, now);
        markUsed(db, keyId).catch(() => log.warn({ keyId }, "lastUsedAt was not written"));
      }
      return entry.principal;
    },
    forget(keyId) {
      cache.delete(keyId);
      loading.delete(keyId);
    },
  };
}

async function findKey(db: Database, keyId: KeyId): Promise<KeyRow | undefined> {
  const [row] = await db.sql<KeyRow[]>`
    select id, tenant_id as "tenantId", name, role, scope, secret_hash as hash,
      expires_at as "expiresAt", berth.now_ms() as now
    from api_keys
    where id = ${keyId} and revoked_at is null`;
  return row;
}

async function markUsed(db: Database, keyId: KeyId): Promise<void> {
  await db.slots.run("update api_keys set last_used_at = berth.now_ms() where id = $1", [keyId]);
}

/**
 * Free-form tokens are looked for in a short list read now and then, so that guessing costs no query a
 * guess. Their ids are the 52-character ones.
 */
function freeFormKeys(db: Database): (token: string) => Promise<KeyId | null> {
  let ids = new Set<KeyId>();
  let readAt = -Infinity;
  return async (token) => {
    if (token.length < FREE_FORM_MIN || token.startsWith("berth_")) return null;
    const now = performance.now();
    if (readAt + FREE_FORM_EVERY_MS <= now) {
      const rows = await db.sql<{ id: KeyId }[]>`
        select id from api_keys where length(id) = 56 and revoked_at is null limit 100`;
      ids = new Set(rows.map((row) => row.id));
      readAt = now;
    }
    const id = freeFormId(token);
    return ids.has(id) ? id : null;
  };
}
