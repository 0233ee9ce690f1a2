/** The first key and the platform's tenant: what a new database needs before anybody can call. */
import type { Database } from "@berth/db";
import { type KeyId, type TenantId, freshId } from "@berth/domain";
import { FREE_FORM_MIN, freeFormId } from "./keys.ts";
import { type Random, hashToken, keyIdOf, makeToken } from "./token.ts";

/** Where the bootstrap key lives when no platform operator is named. */
export const DEFAULT_PLATFORM = "platform";

/** A bootstrap token that must not be used; stops the start. */
export class BootstrapError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BootstrapError";
  }
}

/** A new key text in our own form, for an embedded first start to print once. */
export function newBootstrapToken(random: Random, now: number): string {
  return makeToken(freshId("key", now, random(10)), random);
}

/** Makes the tenant when it is missing; one that is there stays as it is. */
export async function ensureTenant(db: Database, tenantId: TenantId): Promise<void> {
  await db.slots.run(
    `insert into tenants (tenant_id, parent_id, name, created_at)
     values ($1, null, $1, berth.now_ms()) on conflict (tenant_id) do nothing`,
    [tenantId],
  );
}

/** Whether any key was ever made, revoked ones included. */
export async function anyKey(db: Database): Promise<boolean> {
  const [row] = await db.sql<{ found: boolean }[]>`
    select exists (select 1 from api_keys) as found`;
  return row?.found ?? false;
}

/**
 * Makes the first fleet-admin key from the token, only while no key exists: of two servers that start at
 * once, one makes it. Answers whether this call did.
 * @throws BootstrapError for a token under 32 characters
 */
export async function bootstrapKey(
  db: Database,
  token: string,
  tenantId: TenantId = DEFAULT_PLATFORM,
): Promise<boolean> {
  if (token.length < FREE_FORM_MIN)
    throw new BootstrapError(`the bootstrap token must have at least ${FREE_FORM_MIN} characters`);
  const keyId: KeyId | null = token.startsWith("berth_") ? keyIdOf(token) : freeFormId(token);
  if (keyId === null)
    throw new BootstrapError("the bootstrap token begins like a key but its checksum is wrong");
  await ensureTenant(db, tenantId);
  return db.slots.tx(async ({ q }) => {
    await q("select pg_advisory_xact_lock(hashtext('berth.bootstrap'))", []);
    const made = await q(
      `insert into api_keys (id, tenant_id, name, role, scope, secret_hash, created_by, created_at)
       select $1, $2, 'bootstrap', 'fleet-admin', null, $3, null, berth.now_ms()
       where not exists (select 1 from api_keys)
       returning id`,
      [keyId, tenantId, hashToken(token)],
    );
    return made.length > 0;
  });
}
