/** Offers a pool to a tenant with a quota, or changes that offer. */
import { offerPool } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { invalidInput } from "../../errors.ts";
import { changePool } from "./change-pool.ts";
import { tenantExists } from "./store.ts";

export const offer: Handler<"pools.offer"> = {
  async run(call, input, scope) {
    const { toTenantId, quota, includeDescendants, priority = 0 } = input;

    // 1. The tenant has to exist. Tenants are never removed, so this cannot become wrong.
    if (!(await tenantExists(call.deps.db, toTenantId)))
      throw invalidInput(["toTenantId"], "there is no such tenant");

    // 2. The offer, and the pool as that tenant sees it from now on.
    const owned = toTenantId === scope.pool.ownerId;
    return changePool(call, scope, {
      poolId: scope.pool.poolId,
      sight: { owned, offeredTenantId: toTenantId, descendant: false },
      plan: (turn) =>
        offerPool(turn, {
          tenantId: scope.tenantId,
          toTenantId,
          quota,
          includeDescendants,
          priority,
        }),
    });
  },
};
