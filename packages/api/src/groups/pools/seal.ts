/** Policy secrets at rest: AES-256-GCM under the operator's key, bound to the pool that they belong to. */
import { createCipheriv } from "node:crypto";
import type { PoolId } from "@berth/domain";
import type { Call } from "../../call.ts";
import { ApiError } from "../../errors.ts";

const NONCE_BYTES = 12;

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
