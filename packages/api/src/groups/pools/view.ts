/** A pool as one tenant sees it: the owner all of it, a guest what is its own. */
import type { Output } from "@berth/contract";
import {
  type PoolState,
  type QuotaRow,
  type TenantId,
  guestPolicy,
  inUse,
  invariant,
} from "@berth/domain";
import type { VisiblePool } from "../../call.ts";
import { quotaSight } from "../quota-sight.ts";
import type { PoolRecord, PoolWanted } from "./store.ts";

type PoolView = Output<"pools.get">;
type QuotaView = PoolView["quota"][number];

/** How a tenant came to see the pool. */
export type Sight = Pick<VisiblePool, "owned" | "offeredTenantId" | "descendant">;

export function wanted(pool: Sight & Pick<VisiblePool, "poolId">): PoolWanted {
  return { poolId: pool.poolId, quotasOf: pool.owned ? null : pool.offeredTenantId };
}

/** The planned pool of a turn, with what each quota row is used to at `now`. */
export function recordOf(state: PoolState, now: number): PoolRecord {
  const { config } = state;
  invariant(config !== null, "the gate of a pool has its config");
  const quotas = config.quotas.map((row) => ({ ...row, used: inUse(state, now, row) }));
  return { ...config, quotas };
}

export function poolView(pool: PoolRecord, sight: Sight): PoolView {
  const { owned, offeredTenantId } = sight;
  const offer = pool.offers.find((o) => o.tenantId === offeredTenantId);
  return {
    id: pool.id,
    tenantId: pool.tenantId,
    siteId: pool.siteId,
    region: pool.region,
    class: pool.class,
    gpuModel: pool.gpuModel,
    sharing: pool.sharing,
    agent: pool.agent,
    policy: (owned ? pool.policy : guestPolicy(pool.policy)) as PoolView["policy"],
    label: pool.policy.label ?? null,
    providerAccountId: pool.providerAccountId,
    version: pool.version,
    owned,
    archived: pool.archivedAt !== null,
    quota: quotaRows(pool, offeredTenantId, sight.descendant),
    offer:
      owned || !offer
        ? null
        : { includeDescendants: offer.includeDescendants, priority: offer.priority },
    offers: owned
      ? pool.offers.map((o) => ({ ...o, quota: quotaRows(pool, o.tenantId, false) })).sort(byTenant)
      : null,
    createdAt: pool.createdAt,
    updatedAt: pool.updatedAt,
  };
}

function quotaRows(pool: PoolRecord, tenantId: TenantId, descendant: boolean): QuotaView[] {
  return pool.quotas
    .filter((row) => row.tenantId === tenantId)
    .sort(byResource)
    .map((row) => ({ resource: row.resource, ...quotaSight(row, descendant) }));
}

function byResource(a: QuotaRow, b: QuotaRow): number {
  return a.resource < b.resource ? -1 : 1;
}

function byTenant(a: { tenantId: string }, b: { tenantId: string }): number {
  return a.tenantId < b.tenantId ? -1 : 1;
}
