/** Makes an API key that can do no more than its maker, and shows its secret this once. */
import { freshId } from "@berth/domain";
import { exceeds } from "../../access/scope.ts";
import { hashToken, makeToken } from "../../access/token.ts";
import type { Handler, KeyScope } from "../../call.ts";
import { ApiError, invalidInput } from "../../errors.ts";
import { changeTenant } from "../tenant-change.ts";
import { type KeyRow, KEY_COLUMNS, keyView } from "./view.ts";

export const createKey: Handler<"access.createKey"> = {
  async run(call, input, { tenantId }) {
    const { principal, deps } = call;
    const { role, name } = input;

    // 1. Not more than the maker's own: role, scope, end. An absent end is the maker's.
    const scope: KeyScope | null = input.scope ?? null;
    const expiresAt = input.expiresAt ?? principal.expiresAt;
    const excess = exceeds({ role, scope, expiresAt }, principal);
    if (excess)
      throw new ApiError("FORBIDDEN", {
        message: `A key never has more than its maker: ${excess}.`,
      });

    // 2. The key and its event; of the secret only a hash is kept.
    return changeTenant(call, async (tx) => {
      if (expiresAt !== null && expiresAt <= tx.now)
        throw invalidInput(["expiresAt"], "is over already");
      const id = freshId("key", tx.now, deps.random(10));
      const secret = makeToken(id, deps.random);
      const [row] = await tx.q<KeyRow>(
        `insert into api_keys
           (id, tenant_id, name, role, scope, secret_hash, created_by, created_at, expires_at)
         values ($1, $2, $3, $4, $5::text::jsonb, $6, $7, $8, $9)
         returning ${KEY_COLUMNS}`,
        [
          id,
          tenantId,
          name,
          role,
          scope && JSON.stringify(scope),
          hashToken(secret),
          principal.id,
          tx.now,
          expiresAt,
        ],
      );
      if (!row) throw new ApiError("INTERNAL", { internal: "insert of a key returned nothing" });
      await tx.tell({
        type: "key.created",
        tenantId,
        views: [{ tenantId, data: { keyId: id, name, role, expiresAt } }],
      });
      return { key: keyView(row), secret };
    });
  },
};
