/** What the capacity methods read from the database: the counted rows. */
import { type Database, IS_DUE } from "@berth/db";
import type { PoolId, RollupRow, SiteId } from "@berth/domain";
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

/** The rows of the pools, by pool id, and whether something in them is over. One statement, however many. */
export function poolRows({ sql }: Database, ids: readonly PoolId[]): Promise<Dated<PoolRows>[]> {
  return sql<Dated<PoolRows>[]>`
    select p.id as "poolId", p.site_id as "siteId", g.seq, ${sql.unsafe(IS_DUE)} as "isDue",
      exists (
        select 1 from unit_reservations u where u.gate_id = p.id and u.ended_at is null) as "setAside",
      (select coalesce(json_agg(counted), '[]') from (
        select r.resource, r.total, r.allocatable, r.allocated, r.reserved, r.available, r.provisioning,
          r.unhealthy, r.maintenance, r.unreachable, r.updated_at as "updatedAt"
        from rollups r where r.pool_id = p.id) counted) as rows
    from unnest(${ids as PoolId[]}::text[]) asked (id)
    join pools p on p.id = asked.id
    join gates g on g.id = p.id
    order by p.id`;
}
