/** What the capacity methods read from the database: the counted rows. */
import { type Database, isDue } from "@berth/db";
import type { PoolId, RollupRow, SiteId } from "@berth/domain";
import { keepingRows } from "../kept-rows.ts";
import type { Dated } from "../with-nothing-due.ts";

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

type Read = Omit<PoolRows, "poolId" | "seq">;

const keptRows = keepingRows<PoolRows>();

/** The rows of the pools, by pool id, and whether something in them is over. One statement, however many. */
export async function poolRows(db: Database, ids: readonly PoolId[]): Promise<Dated<PoolRows>[]> {
  const { sql } = db;
  const known = keptRows(db, ids);
  // As JSON, and a lookup a pool: see HEADS_QUERY.
  const asked = JSON.stringify(ids.map((id, at) => ({ id, seq: known.seqs[at] })));
  const found = await sql<{ poolId: PoolId; seq: number; isDue: boolean; read: Read | null }[]>`
    select p.id as "poolId", g.seq, ${isDue(db)} as "isDue",
      case when g.seq is distinct from asked.seq then json_build_object(
        'siteId', p.site_id,
        'setAside', exists (
          select 1 from unit_reservations u where u.gate_id = p.id and u.ended_at is null),
        'rows', (select coalesce(json_agg(counted), '[]') from (
          select r.resource, r.total, r.allocatable, r.allocated, r.reserved, r.available, r.provisioning,
            r.unhealthy, r.maintenance, r.unreachable, r.updated_at as "updatedAt"
          from rollups r where r.pool_id = p.id) counted)) end as read
    from jsonb_to_recordset(${asked}::text::jsonb) asked (id text, seq int8)
    cross join lateral (select * from pools where id = asked.id limit 1) p
    cross join lateral (select * from gates where id = asked.id limit 1) g
    order by p.id`;
  return found.map(({ poolId, seq, isDue, read }) => {
    const row = known.settle(poolId, read && { ...read, poolId, seq });
    return { ...row, isDue };
  });
}
