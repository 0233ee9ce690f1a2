/**
 * I2: at every instant a tenant's live use is within the quota it was booked under. A maximum is never
 * set below what is in use, so live use above the present maximum was never allowed. Also holds the
 * stored `used` against a recount and refuses negative numbers.
 */
import { instant, type Check, type Query, type Violation } from "./query.ts";
import {
  type ReservationRow,
  type UnitRow,
  appliedUntil,
  liveReservations,
  units,
} from "./rows.ts";
import { groupBy, peak, type Span } from "./sweep.ts";

/** Metered for everybody: where no row grants any, none may be held. */
const ALWAYS = ["gpu", "gpu.mig", "gpu.slot"];
/** Metered for a tenant that has a row; rows of any other name are kept and never metered. */
const METERED = [...ALWAYS, "nic.vf", "disk", "node", "vcpu", "memoryGiB", "hugepages1Gi"];

interface QuotaRow {
  readonly poolId: string;
  readonly tenantId: string;
  readonly resource: string;
  readonly max: number;
  readonly used: number;
}

interface Use extends Span {
  readonly poolId: string;
  readonly tenantId: string;
  readonly resource: string;
}

/**
 * What one reservation draws from its quota, a line a resource. Whole nodes draw as nodes and as their
 * GPUs, however these are shared out.
 */
function drawn(reservation: ReservationRow, unitOf: ReadonlyMap<string, UnitRow>): Use[] {
  const amounts = new Map<string, number>();
  const add = (resource: string, amount: number) =>
    amounts.set(resource, (amounts.get(resource) ?? 0) + amount);
  for (const member of reservation.members) {
    const gpus = new Set<string>();
    for (const id of member.unitIds) {
      const unit = unitOf.get(id);
      const whole = reservation.binding === "node" && unit?.class.startsWith("gpu") === true;
      if (whole) gpus.add(unit.parentUnitId ?? id);
      else add(unit?.class ?? "unknown", 1);
    }
    if (gpus.size > 0) add("gpu", gpus.size);
    for (const [scalar, amount] of Object.entries(member.resources)) add(scalar, amount);
    if (reservation.binding === "node") add("node", 1);
  }
  const { poolId, chargedTenantId, start, end } = reservation;
  return [...amounts].map(([resource, amount]) => ({
    poolId,
    tenantId: chargedTenantId,
    resource,
    start,
    end,
    amount,
  }));
}

const keyOf = (row: Pick<QuotaRow, "poolId" | "tenantId" | "resource">) =>
  JSON.stringify([row.poolId, row.tenantId, row.resource]);

function overQuota(use: readonly Use[], row: QuotaRow | undefined): Violation | undefined {
  const first = use[0];
  if (!first) return undefined;
  const { poolId, tenantId, resource } = first;
  if (!row && !ALWAYS.includes(resource)) return undefined;
  const most = peak(use);
  const max = row?.max ?? 0;
  if (most.amount <= max) return undefined;
  return {
    invariant: "I2",
    ids: [poolId, tenantId],
    message: `${tenantId} holds ${most.amount} ${resource} of ${poolId} at ${instant(most.at)}; its quota is ${max}`,
  };
}

function wrongCounter(row: QuotaRow, use: readonly Use[], now: number): Violation | undefined {
  const counted = METERED.includes(row.resource)
    ? peak(use.map((span) => ({ ...span, start: Math.max(span.start, now) }))).amount
    : 0;
  const negative = row.used < 0 || row.max < 0;
  if (row.used === counted && !negative) return undefined;
  return {
    invariant: "I2",
    ids: [row.poolId, row.tenantId],
    message:
      `the quota row of ${row.tenantId} on ${row.poolId} for ${row.resource} says used ${row.used} ` +
      `of ${row.max}; its live bookings count ${counted}`,
  };
}

function quotaRows(query: Query): Promise<readonly QuotaRow[]> {
  return query<QuotaRow>(
    `select pool_id as "poolId", tenant_id as "tenantId", resource, max::float8 as max, used::float8 as used
       from quotas order by pool_id, tenant_id, resource`,
  );
}

export const quota: Check = {
  invariant: "I2",
  title: "no tenant holds more than its quota, and `used` is a recount",
  async run(query) {
    const unitOf = new Map((await units(query)).map((unit) => [unit.id, unit]));
    const until = await appliedUntil(query);
    const use = (await liveReservations(query)).flatMap((held) => drawn(held, unitOf));
    const groups = groupBy(use, keyOf);
    const rows = new Map((await quotaRows(query)).map((row) => [keyOf(row), row]));
    const over = [...groups].map(([key, group]) => overQuota(group, rows.get(key)));
    const wrong = [...rows].map(([key, row]) =>
      wrongCounter(row, groups.get(key) ?? [], until.get(row.poolId) ?? 0),
    );
    return [...over, ...wrong].filter((found) => found !== undefined);
  },
};
