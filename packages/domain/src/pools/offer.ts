/** Shows a pool to another tenant, with a quota; or changes that offer. */
import type { TenantId } from "../ids.ts";
import type { Offer, PoolConfig } from "../model.ts";
import { QUOTA_ROWS_MAX } from "../quota.ts";
import { type Result, invalid, ok, refuse } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import {
  type QuotaMap,
  changeConfig,
  openPool,
  replaceQuota,
  resizeQuota,
  tellPool,
} from "./config.ts";

/** Tenants that one pool is offered to. */
export const OFFERS_MAX = 1_000;

export interface OfferAsk {
  readonly tenantId: TenantId;
  /** Known to exist. The owner itself: its own rows are resized, its own priority is set. */
  readonly toTenantId: TenantId;
  readonly quota: QuotaMap;
  readonly includeDescendants: boolean;
  readonly priority: number;
}

/** The pool with the offer. Its version stays: a guest must not see from it that others come and go. */
export function offerPool(turn: Turn, ask: OfferAsk): Result<PoolConfig> {
  const open = openPool(turn, ask.tenantId);
  if (!open.ok) return open;
  const before = open.value;
  const refusal = whyNot(turn, before, ask);
  if (refusal !== null) return refuse({ code: "INVALID_STATE", message: refusal });
  const rows = resizeQuota(turn, ask.toTenantId, ask.quota);
  if (rows.length > QUOTA_ROWS_MAX)
    return invalid(["quota"], `a tenant has at most ${QUOTA_ROWS_MAX} quota rows on a pool`);
  const { toTenantId: tenantId, includeDescendants, priority } = ask;
  const offer: Offer = { tenantId, includeDescendants, priority };
  const after: PoolConfig = {
    ...before,
    offers: [...before.offers.filter((o) => o.tenantId !== tenantId), offer].sort(byTenant),
    quotas: replaceQuota(before.quotas, tenantId, rows),
  };
  changeConfig(turn, before, after);
  const quota = Object.fromEntries(rows.map((row) => [row.resource, row.max]));
  const data = { quota, includeDescendants, priority };
  tellPool(turn, "pool.offered", {
    config: after,
    owner: { toTenantId: tenantId, ...data },
    guests: [{ tenantId, data }],
  });
  return ok(after);
}

/** Rules of the pool's kind, then of its policy, then of its size. */
function whyNot(turn: Turn, config: PoolConfig, ask: OfferAsk): string | null {
  const toGuest = ask.toTenantId !== config.tenantId;
  if (toGuest && (config.sharing === "timeslice" || config.sharing === "mps"))
    return `the GPUs of a ${config.sharing} pool are shared without isolation: only its owner may use it`;
  if (toGuest && holdsTenantOwned(turn))
    return "the pool holds nodes that are a tenant's own: only its owner may use it";
  const guests = config.offers.filter((o) => o.tenantId !== config.tenantId);
  if (config.policy.singleTenant) {
    if (ask.includeDescendants)
      return "the pool's policy is singleTenant: it cannot be offered with descendants";
    if (toGuest && guests.some((o) => o.tenantId !== ask.toTenantId))
      return "the pool's policy is singleTenant, and another tenant holds an offer";
  }
  const known = config.offers.some((o) => o.tenantId === ask.toTenantId);
  if (!known && config.offers.length >= OFFERS_MAX)
    return `a pool is offered to at most ${OFFERS_MAX} tenants`;
  return null;
}

function holdsTenantOwned(turn: Turn): boolean {
  for (const node of turn.state.nodes()) if (node.tenantOwned) return true;
  return false;
}

function byTenant(a: Offer, b: Offer): number {
  return a.tenantId < b.tenantId ? -1 : a.tenantId > b.tenantId ? 1 : 0;
}
