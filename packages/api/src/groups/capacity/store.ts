/** What the capacity methods read from the database: the counted rows. */
import type { Database } from "@berth/db";
import type { PoolId, RollupRow, SiteId } from "@berth/domain";

export interface CountedRow extends RollupRow {
  readonly updatedAt: number;
}

export interface PoolRows {
  readonly poolId: PoolId;
  readonly siteId: SiteId;
  /** The place in the pool's order that the rows are true at. */
  readonly seq: number;
  readonly rows: readonly CountedRow[];
  /** Whether units of it are set aside, or will be. */
  readonly setAside: boolean;
}

/** The rows of the pools, by pool id. One statement, however many. */
export async function poolRows(db: Database, ids: readonly PoolId[]): Promise<PoolRows[]> {
  const found = await db.sql<{ pool: PoolRows }[]>`
    select jsonb_build_object(
      'poolId', p.id, 'siteId', p.site_id,
      'seq', (select g.seq from gates g where g.id = p.id),
      'setAside', exists (
        select 1 from unit_reservations u where u.gate_id = p.id and u.ended_at is null),
      'rows', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'resource', r.resource, 'total', r.total, 'allocatable', r.allocatable,
          'allocated', r.allocated, 'reserved', r.reserved, 'available', r.available,
          'provisioning', r.provisioning, 'unhealthy', r.unhealthy,
          'maintenance', r.maintenance, 'unreachable', r.unreachable,
          'updatedAt', r.updated_at)), '[]')
        from rollups r where r.pool_id = p.id)
    ) as pool
    from pools p
    where p.id = any(${ids as PoolId[]}::text[])
    order by p.id`;
  return found.map((row) => row.pool);
}
