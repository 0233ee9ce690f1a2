/** What the pool methods read from the database. */
import type { Database } from "@berth/db";
import type {
  PoolConfig,
  PoolId,
  ProviderAccountId,
  QuotaRow,
  SiteId,
  TenantId,
} from "@berth/domain";

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

/** The pools, by id. One statement, however many. */
export async function poolRecords(
  db: Database,
  wanted: readonly PoolWanted[],
): Promise<StoredPool[]> {
  const ids = wanted.map((pool) => pool.poolId);
  const payers = wanted.map((pool) => pool.quotasOf);
  const rows = await db.sql<{ pool: StoredPool }[]>`
    select jsonb_build_object(
      'id', p.id, 'tenantId', p.tenant_id, 'siteId', p.site_id, 'region', p.region,
      'class', p.class, 'gpuModel', p.gpu_model, 'sharing', p.sharing, 'agent', p.agent,
      'policy', p.policy, 'providerAccountId', p.provider_account_id, 'version', p.version,
      'archivedAt', p.archived_at, 'createdAt', p.created_at, 'updatedAt', p.updated_at,
      'seq', (select g.seq from gates g where g.id = p.id),
      'offers', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'tenantId', o.tenant_id, 'includeDescendants', o.include_descendants,
          'priority', o.priority)), '[]')
        from offers o where o.pool_id = p.id and (w.payer is null or o.tenant_id = w.payer)),
      'quotas', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'tenantId', q.tenant_id, 'resource', q.resource, 'max', q.max, 'used', q.used)), '[]')
        from quotas q where q.pool_id = p.id and (w.payer is null or q.tenant_id = w.payer))
    ) as pool
    from unnest(${ids}::text[], ${payers}::text[]) as w(id, payer)
    join pools p on p.id = w.id
    order by p.id`;
  return rows.map((row) => row.pool);
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
