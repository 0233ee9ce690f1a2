/** What the pool methods read from the database. */
import { type Database, IS_DUE } from "@berth/db";
import type {
  PoolConfig,
  PoolId,
  ProviderAccountId,
  QuotaRow,
  SiteId,
  TenantId,
} from "@berth/domain";
import type { Dated } from "../with-nothing-due.ts";

/** A quota row with what its tenant uses of it at most, from now on. */
export interface UsedQuotaRow extends QuotaRow {
  readonly used: number;
}

/** A pool as its view is made from it. */
export interface PoolRecord extends Omit<PoolConfig, "quotas" | "siteKind" | "createdBy"> {
  readonly quotas: readonly UsedQuotaRow[];
}

/** A record and the place in the pool's order that it is true at. */
export interface StoredPool extends PoolRecord {
  readonly seq: number;
}

/** Whose quota rows of a pool are wanted; null = everybody's, for its owner. */
export interface PoolWanted {
  readonly poolId: PoolId;
  readonly quotasOf: TenantId | null;
}

/** The pools, by id, and whether something in them is over. One statement, however many. */
export function poolRecords(
  { sql }: Database,
  wanted: readonly PoolWanted[],
): Promise<Dated<StoredPool>[]> {
  const ids = wanted.map((pool) => pool.poolId);
  const payers = wanted.map((pool) => pool.quotasOf);
  return sql<Dated<StoredPool>[]>`
    select p.id, p.id as "poolId", p.tenant_id as "tenantId", p.site_id as "siteId", p.region, p.class,
      p.gpu_model as "gpuModel", p.sharing, p.agent, p.policy,
      p.provider_account_id as "providerAccountId", p.version, p.archived_at as "archivedAt",
      p.created_at as "createdAt", p.updated_at as "updatedAt", g.seq,
      ${sql.unsafe(IS_DUE)} as "isDue",
      (select coalesce(json_agg(offer), '[]') from (
        select o.tenant_id as "tenantId", o.include_descendants as "includeDescendants", o.priority
        from offers o
        where o.pool_id = p.id and (w.payer is null or o.tenant_id = w.payer)) offer) as offers,
      (select coalesce(json_agg(quota), '[]') from (
        select q.tenant_id as "tenantId", q.resource, q.max, q.used
        from quotas q
        where q.pool_id = p.id and (w.payer is null or q.tenant_id = w.payer)) quota) as quotas
    from unnest(${ids}::text[], ${payers}::text[]) as w(id, payer)
    join pools p on p.id = w.id
    join gates g on g.id = p.id
    order by p.id`;
}

export interface SiteFacts {
  readonly tenantId: TenantId;
  readonly kind: PoolConfig["siteKind"];
  readonly region: string;
}

/** The site and the database's clock, which a fresh pool's id begins with. */
export async function siteFacts(
  db: Database,
  siteId: SiteId,
): Promise<{ site: SiteFacts | null; now: number }> {
  const [row] = await db.sql<{ site: SiteFacts | null; now: number }[]>`
    select berth.now_ms() as now, (
      select jsonb_build_object('tenantId', tenant_id, 'kind', kind, 'region', region)
      from sites where id = ${siteId}) as site`;
  return { site: row?.site ?? null, now: row?.now ?? 0 };
}

export async function ownsProviderAccount(
  db: Database,
  tenantId: TenantId,
  id: ProviderAccountId,
): Promise<boolean> {
  const rows = await db.sql`
    select 1 from provider_accounts where id = ${id} and tenant_id = ${tenantId}`;
  return rows.length > 0;
}

export async function tenantExists(db: Database, tenantId: TenantId): Promise<boolean> {
  const rows = await db.sql`select 1 from tenants where tenant_id = ${tenantId}`;
  return rows.length > 0;
}
