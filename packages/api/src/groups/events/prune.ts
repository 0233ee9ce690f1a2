/** Forgets events past retention, and notes how far for each tenant, so that older cursors are told. */
import type { Database } from "@berth/db";
import { PRUNED_TO } from "./feed.ts";

export const EVENTS_KEPT_MS = 30 * 86_400_000;
const ROWS_A_STEP = 5_000;

/**
 * Deletes what is older than retention, oldest first; answers how many rows. A step looks at the oldest rows
 * by id and no further, so an hour in which nothing is old costs one short walk of the primary key; ids
 * follow time closely, and an old row behind thousands of young ones waits for them.
 * Of a tenant's events none after its noted place is gone, so a quiet tenant's last cursor stays good.
 */
export async function pruneEvents(db: Database, keptMs: number = EVENTS_KEPT_MS): Promise<number> {
  let total = 0;
  for (;;) {
    const [step] = await db.slots.run<{ gone: number }>(
      `with oldest as materialized (
         select id, at from events
         where xid < pg_snapshot_xmin(pg_current_snapshot())
         order by id limit ${ROWS_A_STEP}
       ), old as (
         select id from oldest where at < berth.now_ms() - $1::bigint
       ), gone as (
         delete from events e using old where e.id = old.id returning e.id, e.xid, e.tenant_id
       ), noted as (
         insert into meta (key, value)
         select distinct on (tenant_id) '${PRUNED_TO}' || tenant_id, xid::text || '.' || id
         from gone order by tenant_id, xid desc, id desc
         on conflict (key) do update set value = excluded.value
         where (split_part(meta.value, '.', 1)::xid8, split_part(meta.value, '.', 2)::bigint)
           < (split_part(excluded.value, '.', 1)::xid8, split_part(excluded.value, '.', 2)::bigint)
       )
       select count(*)::int as gone from gone`,
      [keptMs],
    );
    const gone = step?.gone ?? 0;
    total += gone;
    if (gone === 0) return total;
  }
}
