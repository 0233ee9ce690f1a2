/** What the pool rules share: finding the owner's pool, changing it, resizing quota, telling of it. */
import type { TenantId } from "../ids.ts";
import type { PoolConfig, QuotaRow } from "../model.ts";
import { inUse } from "../quota.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { EventType, Turn } from "../turn.ts";

/** `max` by quota key. */
export type QuotaMap = Readonly<Record<string, number>>;

/** The pool, for its owner only: anyone else may not even know that it is there. */
export function ownedPool(turn: Turn, tenantId: TenantId): Result<PoolConfig> {
  const config = turn.state.config;
  return config && config.tenantId === tenantId ? ok(config) : refuse({ code: "NOT_FOUND" });
}

/** The pool, when it still takes new work. */
export function openPool(turn: Turn, tenantId: TenantId): Result<PoolConfig> {
  const owned = ownedPool(turn, tenantId);
  if (owned.ok && owned.value.archivedAt !== null)
    return refuse({
      code: "INVALID_STATE",
      message: "the pool is archived; that cannot be undone",
    });
  return owned;
}

/** Refused unless the pool is still at the version that the caller read. */
export function atPoolVersion(config: PoolConfig, version: number | undefined): Result<PoolConfig> {
  if (version === undefined || version === config.version) return ok(config);
  return refuse({
    code: "CONFLICT",
    kind: "version",
    message: `the pool is at version ${config.version}, not ${version}: read it again`,
  });
}

export function changeConfig(turn: Turn, before: PoolConfig | null, after: PoolConfig): void {
  turn.apply({ kind: "config", before, after });
}

/**
 * The tenant's rows with the named ones set. A maximum below what is in use is raised to it: a shrunk
 * quota never makes a live booking wrong, and nothing new fits until enough has ended.
 */
export function resizeQuota(turn: Turn, tenantId: TenantId, named: QuotaMap): QuotaRow[] {
  const present = turn.state.config?.quotas.filter((row) => row.tenantId === tenantId) ?? [];
  const kept = present.filter((row) => !Object.hasOwn(named, row.resource));
  const set = Object.entries(named).map(([resource, max]) => ({
    tenantId,
    resource,
    max: Math.max(max, inUse(turn.state, turn.now, { tenantId, resource })),
  }));
  return [...kept, ...set];
}

/** The tenant's rows at what is in use; a row without use goes, as it would only stand in a later offer's way. */
export function drainQuota(state: PoolState, now: number, tenantId: TenantId): QuotaRow[] {
  const present = state.config?.quotas.filter((row) => row.tenantId === tenantId) ?? [];
  return present
    .map((row) => ({ ...row, max: inUse(state, now, row) }))
    .filter((row) => row.max > 0);
}

/** All rows in their order: by tenant, then resource. */
export function replaceQuota(
  quotas: readonly QuotaRow[],
  tenantId: TenantId,
  rows: readonly QuotaRow[],
): QuotaRow[] {
  return [...quotas.filter((row) => row.tenantId !== tenantId), ...rows].sort(byTenantAndResource);
}

/** The order of a config's quota rows. */
export function byTenantAndResource(a: QuotaRow, b: QuotaRow): number {
  if (a.tenantId !== b.tenantId) return a.tenantId < b.tenantId ? -1 : 1;
  return a.resource < b.resource ? -1 : a.resource > b.resource ? 1 : 0;
}

export type PoolEvent = Extract<EventType, `pool.${string}`>;
type Data = Readonly<Record<string, unknown>>;

/** Tells the owner all of it, and each guest only what is its own. */
export function tellPool(
  turn: Turn,
  type: PoolEvent,
  told: { config: PoolConfig; owner: Data; guests?: readonly { tenantId: TenantId; data: Data }[] },
): void {
  const { id: poolId, tenantId } = told.config;
  const guests = (told.guests ?? []).filter((guest) => guest.tenantId !== tenantId);
  turn.emit({
    type,
    views: [
      { tenantId, data: { poolId, ...told.owner } },
      ...guests.map((guest) => ({ tenantId: guest.tenantId, data: { poolId, ...guest.data } })),
    ],
  });
}
