/** What was committed since, for the tenants that somebody watches: one statement for all of them. */
import type { Database } from "@berth/db";
import type { ReservationId, TenantId } from "@berth/domain";
import { type FeedEvent, type Row, toEvent } from "../groups/events/feed.ts";
import { type Place, epochOf } from "../groups/events/cursor.ts";

/** Rows of one read; a full one is followed by the next at once. */
const ROWS_MAX = 1_000;
/** Above every id: the place behind all that a transaction wrote. */
const ID_MAX = 999_999_999_999_999;

/** An event on its way to the watchers of its tenant. */
export interface Passing {
  readonly place: Place;
  readonly event: FeedEvent;
  readonly tenantId: TenantId;
  readonly reservationId: ReservationId | null;
}

export interface Tail {
  /** In the feed's order. */
  readonly passing: readonly Passing[];
  /** Nothing of these tenants lies between the place read from and this one but what is passing. */
  readonly upTo: Place;
  /** There is more already. */
  readonly more: boolean;
  /** The number that the next transaction of the cluster gets. */
  readonly newest: string;
}

interface Stand {
  readonly horizon: string;
  readonly newest: string;
}

interface TailRow extends Row, Stand {
  readonly tenantId: TenantId;
  readonly reservationId: ReservationId | null;
}

/** With nothing new there is one row, with no event in it. */
type Answer = TailRow | (Stand & { readonly id: null });

/**
 * Where the feed stands: behind everything that is shown, before everything that will be. The place is of the
 * last transaction below the horizon, because the horizon itself may be one that is yet to come.
 */
export async function feedNow(db: Database): Promise<Place> {
  const [row] = await db.sql<{ horizon: string }[]>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as horizon`;
  return behind(row?.horizon ?? "1");
}

/**
 * Each tenant is looked up by itself in the order of the feed, so that no plan of the database ever reads
 * more than the new rows; the horizon and the rows are of one snapshot.
 */
export async function readTail(
  db: Database,
  tenantIds: readonly TenantId[],
  after: Place,
): Promise<Tail> {
  const rows = await db.sql<Answer[]>`
    select pg_snapshot_xmin(now.snapshot)::text as horizon,
      pg_snapshot_xmax(now.snapshot)::text as newest,
      e.xid::text as xid, e.id, e.tenant_id as "tenantId", e.event_id as "eventId", e.type, e.at,
      e.pool_id as "poolId", e.reservation_id as "reservationId", e.seq, e.data
    from (select pg_current_snapshot() as snapshot) now
    left join (
      select found.*
      from unnest(${[...tenantIds]}::text[]) as watched(tenant_id)
      cross join lateral (
        select * from events
        where tenant_id = watched.tenant_id
          and (xid, id) > (${after.xid}::text::xid8, ${after.id}::bigint)
          and xid < pg_snapshot_xmin(pg_current_snapshot())
        order by xid, id
        limit ${ROWS_MAX}
      ) found
      order by found.xid, found.id
      limit ${ROWS_MAX}
    ) e on true
    order by e.xid, e.id`;
  const epoch = await epochOf(db);
  const passing = rows.filter(isEvent).map((row) => ({
    place: { xid: row.xid, id: row.id },
    event: toEvent(epoch, row.tenantId, row),
    tenantId: row.tenantId,
    reservationId: row.reservationId,
  }));
  const more = passing.length === ROWS_MAX;
  const last = passing.at(-1)?.place ?? after;
  const { horizon = "1", newest = "1" } = rows[0] ?? {};
  return { passing, upTo: more ? last : behind(horizon), more, newest };
}

function isEvent(row: Answer): row is TailRow {
  return row.id !== null;
}

function behind(horizon: string): Place {
  return { xid: String(BigInt(horizon) - 1n), id: ID_MAX };
}
