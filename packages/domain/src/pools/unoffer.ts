/** Takes an offer back. */
import type { TenantId } from "../ids.ts";
import type { PoolConfig } from "../model.ts";
import { type Result, invalid, ok } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import { changeConfig, drainQuota, ownedPool, replaceQuota, tellPool } from "./config.ts";

export interface UnofferAsk {
  readonly tenantId: TenantId;
  readonly toTenantId: TenantId;
}

/** The tenant's live bookings stay, and so does the quota that they use; a second time removes nothing. */
export function unofferPool(turn: Turn, ask: UnofferAsk): Result<{ removed: boolean }> {
  const owned = ownedPool(turn, ask.tenantId);
  if (!owned.ok) return owned;
  const before = owned.value;
  const { toTenantId } = ask;
  if (toTenantId === before.tenantId)
    return invalid(["toTenantId"], "a pool cannot be taken from its owner; archive it instead");
  if (!before.offers.some((offer) => offer.tenantId === toTenantId)) return ok({ removed: false });
  const after: PoolConfig = {
    ...before,
    offers: before.offers.filter((offer) => offer.tenantId !== toTenantId),
    quotas: replaceQuota(before.quotas, toTenantId, drainQuota(turn.state, turn.now, toTenantId)),
  };
  changeConfig(turn, before, after);
  tellPool(turn, "pool.unoffered", {
    config: after,
    owner: { toTenantId },
    guests: [{ tenantId: toTenantId, data: {} }],
  });
  return ok({ removed: true });
}
