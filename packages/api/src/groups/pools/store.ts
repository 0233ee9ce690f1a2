/** What the pool methods read from the database. */
import { type Database, isDue } from "@berth/db";
import type {
  PoolConfig,
  PoolId,
  ProviderAccountId,
  QuotaRow,
  SiteId,
  TenantId,
} from "@berth/domain";
import { keepingRows } from "../kept-rows.ts";
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

type Read = Omit<StoredPool, "seq">;

const keptRecords = keepingRows<StoredPool>();

/** The pools, by id, and whether something in them is over. One statement, however many. */
export async function poolRecords(
  db: Database,
  wanted: readonly PoolWanted[],
): Promise<Dated<StoredPool>[]> {
  const { sql } = db;
  const keys = wanted.map(keyOf);
  const known = keptRecords(db, keys);
  // As JSON, and a lookup a pool: see HEADS_QUERY.
  const asked = JSON.stringify(
    wanted.map(({ poolId: id, quotasOf: payer }, n) => ({ n, id, payer, seq: known.seqs[n] })),
  );
  const found = await sql<{ n: number; seq: number; isDue: boolean; read: Read | null }[]>`
    select w.n, g.seq, ${isDue(db)} as "isDue",
      case when g.seq is distinct from w.seq then json_build_object(
        'id', p.id, 'tenantId', p.tenant_id, 'siteId', p.site_id, 'region', p.region,
        'class', p.class, 'gpuModel', p.gpu_model, 'sharing', p.sharing, 'agent', p.agent,
        'policy', p.policy, 'providerAccountId', p.provider_account_id, 'version', p.version,
        'archivedAt', p.archived_at, 'createdAt', p.created_at, 'updatedAt', p.updated_at,
        'offers', (select coalesce(json_agg(offer), '[]') from (
          select o.tenant_id as "tenantId", o.include_descendants as "includeDescendants", o.priority
          from offers o
          where o.pool_id = p.id and (w.payer is null or o.tenant_id = w.payer)) offer),
        'quotas', (select coalesce(json_agg(quota), '[]') from (
          select q.tenant_id as "tenantId", q.resource, q.max, q.used
          from quotas q
          where q.pool_id = p.id and (w.payer is null or q.tenant_id = w.payer)) quota)) end as read
    from jsonb_to_recordset(${asked}::text::jsonb) w (n integer, id text, payer text, seq int8)
    cross join lateral (select * from pools where id = w.id limit 1) p
    cross join lateral (select * from gates where id = w.id limit 1) g
    order by p.id`;
  return found.map(({ n, seq, isDue, read }) => {
    const record = known.settle(keys[n] ?? "", read && { ...read, seq });
    return { ...record, poolId: record.id, isDue };
  });
}

const keyOf = ({ poolId, quotasOf }: PoolWanted): string => `${poolId} ${quotasOf ?? ""}`;

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
