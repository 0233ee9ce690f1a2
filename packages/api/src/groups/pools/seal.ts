/** Policy secrets at rest: AES-256-GCM under the operator's key, bound to the pool that they belong to. */
import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Database } from "@berth/db";
import type { PoolId } from "@berth/domain";
import type { Call } from "../../call.ts";
import { ApiError } from "../../errors.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Nonce (12 bytes), tag (16), ciphertext; the pool's id is the additional data. */
export function sealToken(call: Call, poolId: PoolId, token: string): Uint8Array {
  const { sealKey } = call.deps.options;
  if (sealKey === null)
    throw new ApiError("INVALID_STATE", {
      message:
        "This server stores no cluster tokens: its operator has to set BERTH_SEAL_KEY to 32 bytes of key first.",
    });
  const nonce = call.deps.random(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", sealKey, nonce).setAAD(Buffer.from(poolId));
  const sealed = Buffer.concat([cipher.update(token, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/**
 * Pools whose token this key does not open, of those that have one: it was sealed with another key, or belongs to
 * another pool. Without a key that is each of them.
 */
export async function unopenedTokens(db: Database, sealKey: Uint8Array | null): Promise<PoolId[]> {
  const rows = await db.sql<{ id: PoolId; sealed: Uint8Array }[]>`
    select id, kubernetes_token as sealed from pools where kubernetes_token is not null order by id`;
  return rows
    .filter(({ id, sealed }) => sealKey === null || !opens(sealed, id, sealKey))
    .map(({ id }) => id);
}

function opens(sealed: Uint8Array, poolId: PoolId, sealKey: Uint8Array): boolean {
  const [nonce, rest] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES)];
  try {
    const decipher = createDecipheriv("aes-256-gcm", sealKey, nonce, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(poolId))
      .setAuthTag(rest.subarray(0, TAG_BYTES));
    decipher.update(rest.subarray(TAG_BYTES));
    decipher.final();
    return true;
  } catch {
    return false;
  }
}
