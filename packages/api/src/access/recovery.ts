/** The way back in when every key is lost: whoever may write to the database may make one there. */
import { randomUUID } from "node:crypto";
import { type Database, emitEvents } from "@berth/db";
import { type KeyId, type TenantId, freshId } from "@berth/domain";
import { ensureTenant } from "./bootstrap.ts";
import { type Random, hashToken, makeToken } from "./token.ts";

/** Who made it, in the list of keys and in the audit trail: somebody at the database, and no key of anybody. */
const OPERATOR = "operator";
const NAME = "recovered";

export interface Recovered {
  readonly keyId: KeyId;
  /** Of it only a hash is kept. */
  readonly token: string;
}

/**
 * Makes a fleet-admin key of the tenant, with its event and its row of the audit trail in one transaction. Keys that
 * there are stay as they are: which of them to end is for whoever has the new one.
 */
export async function recoverKey(
  db: Database,
  random: Random,
  tenantId: TenantId,
): Promise<Recovered> {
  await ensureTenant(db, tenantId);
  return db.slots.tx(async (tx) => {
    const [clock] = await tx.q<{ now: number }>("select berth.now_ms() as now");
    const now = Number(clock?.now);
    const keyId = freshId("key", now, random(10));
    const token = makeToken(keyId, random);
    await tx.q(
      `insert into api_keys (id, tenant_id, name, role, scope, secret_hash, created_by, created_at)
       values ($1, $2, $3, 'fleet-admin', null, $4, $5, $6)`,
      [keyId, tenantId, NAME, hashToken(token), OPERATOR, now],
    );
    await tx.q(
      `insert into audit (at, principal, tenant_id, method, outcome, target, request_id)
       values ($1, $2, $3, 'access.recoverKey', 'ok', $4, $5)`,
      [now, OPERATOR, tenantId, keyId, randomUUID()],
    );
    const data = { keyId, name: NAME, role: "fleet-admin", expiresAt: null };
    const id = freshId("evt", now, random(10));
    const views = [{ tenantId, data }];
    await emitEvents(tx, `tenant:${tenantId}`, [
      { id, type: "key.created", at: now, reservationId: null, views },
    ]);
    return { keyId, token };
  });
}
