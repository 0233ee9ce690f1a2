/**
 * Who pays for a booking, and whether they may. A quota row bounds a tenant's use of one resource of one
 * pool at every instant: what counts is the peak of concurrent use inside the window asked for.
 */
import type { TenantId } from "./ids.ts";
import { type PlaceRequest, type PoolConfig, RESOURCES, type Resource, SCALARS } from "./model.ts";
import { type Refusal, type Result, ok, refuse } from "./refusal.ts";
import type { PoolState } from "./state/pool-state.ts";

/** Metered for everybody: a missing row grants nothing. Other resources are metered where a row exists. */
const ALWAYS_METERED: ReadonlySet<string> = new Set(["gpu", "gpu.mig", "gpu.slot"]);

/** Quota rows that one tenant may have on one pool: offers with ever new keys must not grow without end. */
export const QUOTA_ROWS_MAX = 64;

export interface Charge {
  /** Whose quota rows the booking draws on. */
  readonly tenantId: TenantId;
  /** The rows are an ancestor's: only what remains of them may be shown. */
  readonly descendant: boolean;
}

/**
 * Whose rows a tenant's booking draws on; null when the pool is not the tenant's to see. The owner pays
 * from its own rows, an offered tenant from its own, a descendant from those of the nearest tenant above
 * it that was offered the pool with its descendants.
 * @param ancestors parent first, root last
 */
export function resolveCharge(
  config: PoolConfig,
  tenantId: TenantId,
  ancestors: readonly TenantId[],
): Charge | null {
  if (tenantId === config.tenantId) return { tenantId, descendant: false };
  if (config.archivedAt !== null) return null;
  const offers = new Map(config.offers.map((offer) => [offer.tenantId, offer]));
  if (offers.has(tenantId)) return { tenantId, descendant: false };
  const payer = ancestors.find((ancestor) => offers.get(ancestor)?.includeDescendants);
  return payer === undefined ? null : { tenantId: payer, descendant: true };
}

export type Amounts = ReadonlyMap<Resource, number>;

/**
 * What a hold uses at every instant of its window, all members together, zeros left out, in the order of
 * `RESOURCES`. What a lease of nodes uses is known once the nodes are.
 */
export function requestAmounts({
  devices,
  resources,
  gang,
}: Pick<PlaceRequest, "devices" | "resources" | "gang">): Amounts {
  const size = gang?.size ?? 1;
  const sums = new Map<Resource, number>();
  for (const line of devices) sums.set(line.class, (sums.get(line.class) ?? 0) + line.count * size);
  for (const scalar of SCALARS) sums.set(scalar, resources[scalar] * size);
  return new Map(
    RESOURCES.flatMap((resource) => {
      const amount = sums.get(resource) ?? 0;
      return amount > 0 ? [[resource, amount] as const] : [];
    }),
  );
}

/** The tenant's `max` for a resource; null when the resource is not metered for it. */
export function quotaMax(config: PoolConfig, tenantId: TenantId, resource: string): number | null {
  const row = config.quotas.find((r) => r.tenantId === tenantId && r.resource === resource);
  if (row) return row.max;
  return ALWAYS_METERED.has(resource) ? 0 : null;
}

export interface QuotaLine {
  readonly resource: Resource;
  readonly max: number;
  /** The most that is in use at any one instant of the window, this request not counted. */
  readonly peak: number;
  readonly asked: number;
}

/** Every metered resource that the request uses, with what is already in use in the window. */
export function quotaLines(
  state: PoolState,
  config: PoolConfig,
  ask: { payer: TenantId; amounts: Amounts; start: number; end: number },
): QuotaLine[] {
  const lines: QuotaLine[] = [];
  for (const [resource, asked] of ask.amounts) {
    const max = quotaMax(config, ask.payer, resource);
    if (max === null) continue;
    const peak = state.usage(ask.payer, resource)?.peak(ask.start, ask.end) ?? 0;
    lines.push({ resource, max, peak, asked });
  }
  return lines;
}

export function withinQuota(line: QuotaLine): boolean {
  return line.peak + line.asked <= line.max;
}

/** Refuses with the first line that passes its maximum. */
export function checkQuota(lines: readonly QuotaLine[], charge: Charge): Result<void> {
  const over = lines.find((line) => !withinQuota(line));
  return over ? refuse(overQuota(over, charge)) : ok(undefined);
}

function overQuota(line: QuotaLine, charge: Charge): Refusal {
  return {
    code: "QUOTA_EXCEEDED",
    resource: line.resource,
    max: charge.descendant ? null : line.max,
    peak: charge.descendant ? null : line.peak,
    remaining: charge.descendant ? Math.max(0, line.max - line.peak) : null,
    requested: line.asked,
  };
}

/** The peak of a tenant's use over all live bookings from now on: a row's `used`. */
export function inUse(
  state: PoolState,
  now: number,
  key: { tenantId: TenantId; resource: string },
): number {
  return state.usage(key.tenantId, key.resource)?.peakFrom(now) ?? 0;
}
