/** Ends a key: this process refuses it at once, every other within seconds. */
import { rank } from "../../access/scope.ts";
import type { Handler } from "../../call.ts";
import { ApiError, notFound } from "../../errors.ts";
import { changeTenant } from "../tenant-change.ts";
import { type KeyRow, KEY_COLUMNS, keyView } from "./view.ts";

export const revokeKey: Handler<"access.revokeKey"> = {
  async run(call, { keyId }, { tenantId }) {
    const row = await changeTenant(call, async (tx) => {
      // 1. The key; one that is above its caller is not the caller's to end.
      const [key] = await tx.q<KeyRow>(
        `select ${KEY_COLUMNS} from api_keys where id = $1 and tenant_id = $2 for update`,
        [keyId, tenantId],
      );
      if (!key) throw notFound("the key left its tenant");
      if (rank(key.role) > rank(call.principal.role))
        throw new ApiError("FORBIDDEN", { message: "That key has a higher role than the caller." });

      // 2. A revoked one stays as it is.
      if (key.revokedAt !== null) return key;
      await tx.q("update api_keys set revoked_at = $2 where id = $1", [keyId, tx.now]);
      const { name, role } = key;
      await tx.tell({
        type: "key.revoked",
        tenantId,
        views: [{ tenantId, data: { keyId, name, role } }],
      });
      return { ...key, revokedAt: tx.now };
    });
    call.deps.access.forget(keyId);
    return keyView(row);
  },
};
