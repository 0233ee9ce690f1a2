/** Retires a pool: no offers, no new work; what is booked runs on. */
import type { TenantId } from "../ids.ts";
import type { PoolConfig } from "../model.ts";
import { type Result, ok } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import {
  atPoolVersion,
  byTenantAndResource,
  changeConfig,
  drainQuota,
  ownedPool,
  tellPool,
} from "./config.ts";

export interface ArchivePoolAsk {
  readonly tenantId: TenantId;
  readonly version?: number | undefined;
}

/** The archived pool; one that is archived already is answered unchanged. */
export function archivePool(turn: Turn, ask: ArchivePoolAsk): Result<PoolConfig> {
  const owned = ownedPool(turn, ask.tenantId);
  if (!owned.ok || owned.value.archivedAt !== null) return owned;
  const current = atPoolVersion(owned.value, ask.version);
  if (!current.ok) return current;
  const before = current.value;
  const removed = before.offers
    .map((offer) => offer.tenantId)
    .filter((tenantId) => tenantId !== before.tenantId);
  const gone = new Set(removed);
  const kept = before.quotas.filter((row) => !gone.has(row.tenantId));
  const drained = removed.flatMap((tenantId) => drainQuota(turn.state, turn.now, tenantId));
  const after: PoolConfig = {
    ...before,
    offers: [],
    quotas: [...kept, ...drained].sort(byTenantAndResource),
    archivedAt: turn.now,
    version: before.version + 1,
    updatedAt: turn.now,
  };
  changeConfig(turn, before, after);
  tellPool(turn, "pool.archived", {
    config: after,
    owner: { version: after.version, tenantIds: removed },
  });
  return ok(after);
}
