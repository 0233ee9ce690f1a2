/** Who the server takes the caller for. */
import type { Handler } from "../../call.ts";
import { scopeView } from "./view.ts";

export const whoami: Handler<"access.whoami"> = {
  run({ principal }) {
    const { tenantId, name, role, scope, expiresAt } = principal;
    const keyId = principal.credential === "key" ? principal.keyId : null;
    return Promise.resolve({ tenantId, name, role, scope: scopeView(scope), keyId, expiresAt });
  },
};
