/**
 * The cross-pool feed, in the order of (transaction, id) and only below the snapshot horizon: while a
 * transaction is open, nothing at or above its number is shown, so a slow one is never skipped. Orders name the
 * table's own `xid`: the answer's is text, in which 1000 comes before 999.
 */
import type { Output } from "@berth/contract";
import type { Database } from "@berth/db";
import type { EventId, EventType, PoolId, ReservationId, TenantId } from "@berth/domain";
import { type Place, encodeEventCursor, epochOf, expired } from "./cursor.ts";

export type FeedEvent = Output<"events.list">["events"][number];

export interface FeedAsk {
  readonly tenantId: TenantId;
  readonly poolId?: PoolId | undefined;
  readonly reservationId?: ReservationId | undefined;
  /** A narrowed key sees its pools' events only. */
  readonly poolIds?: readonly PoolId[] | undefined;
  readonly limit: number;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** Where to go on, when there may be more. */
  readonly next: Place | null;
  /** How far was looked: nothing else up to here is asked for. Null before the first event. */
  readonly upTo: Place | null;
}

/** An event as it is stored. */
export interface Row {
  readonly xid: string;
  readonly id: number;
  readonly eventId: EventId;
  readonly type: EventType;
  readonly at: number;
  readonly poolId: PoolId | null;
  readonly seq: number;
  readonly data: Record<string, unknown>;
}

/** Key, before the tenant's id, of how far its events were pruned, as `<xid>.<id>`. */
export const PRUNED_TO = "events.pruned_to:";

/** A filtered page looks at no more of the tenant's events than this; it may then be short, or empty. */
const SCANNED_MAX = 5_000;

/**
 * Up to `limit` events after the place, oldest first.
 * @throws ApiError CURSOR_EXPIRED when some after the place are gone
 */
export async function readFeed(db: Database, ask: FeedAsk, after: Place | null): Promise<FeedPage> {
  const { tenantId, poolId = null, reservationId = null, poolIds, limit } = ask;
  if (after) await checkKept(db, tenantId, after);
  const { xid, id } = after ?? { xid: "0", id: 0 };
  const pools = poolIds ? [...poolIds] : [];
  const filtered = poolId !== null || reservationId !== null || poolIds !== undefined;
  const scanned = await db.sql<(Place & { readonly shown: boolean })[]>`
    select xid::text as xid, id,
      (${poolId}::text is null or pool_id = ${poolId}) is true
      and (${reservationId}::text is null or reservation_id = ${reservationId}) is true
      and (${poolIds === undefined}::boolean or pool_id = any(${pools}::text[])) is true as shown
    from events
    where tenant_id = ${tenantId}
      and (xid, id) > (${xid}::text::xid8, ${id}::bigint)
      and xid < pg_snapshot_xmin(pg_current_snapshot())
    order by events.xid, events.id
    limit ${filtered ? SCANNED_MAX : limit + 1}`;
  const shown = scanned.filter((place) => place.shown);
  const page = shown.slice(0, limit);
  const cut = shown.length > limit ? page.at(-1) : undefined;
  const unseen = filtered && scanned.length === SCANNED_MAX ? scanned.at(-1) : undefined;
  const next = cut ?? unseen ?? null;
  const upTo = next ?? scanned.at(-1) ?? after;
  return { events: await eventsAt(db, tenantId, page), next, upTo };
}

async function eventsAt(
  db: Database,
  tenantId: TenantId,
  places: readonly Place[],
): Promise<FeedEvent[]> {
  if (places.length === 0) return [];
  const rows = await db.sql<Row[]>`
    select xid::text as xid, id, event_id as "eventId", type, at, pool_id as "poolId", seq, data
    from events where id = any(${places.map(({ id }) => id)}::bigint[])
    order by events.xid, events.id`;
  const epoch = await epochOf(db);
  return rows.map((row) => toEvent(epoch, tenantId, row));
}

/** The event as its tenant reads it. */
export function toEvent(epoch: string, tenantId: TenantId, row: Row): FeedEvent {
  return {
    id: row.eventId,
    cursor: encodeEventCursor(epoch, row),
    type: row.type,
    at: row.at,
    tenantId,
    poolId: row.poolId,
    seq: row.poolId === null ? null : row.seq,
    data: row.data,
  };
}

/**
 * A place that pruning has passed, or that this database has not come to: it was restored.
 * @throws ApiError CURSOR_EXPIRED
 */
export async function checkKept(
  db: Database,
  tenantId: TenantId,
  { xid, id }: Place,
): Promise<void> {
  const [row] = await db.sql<{ future: boolean; pruned: boolean }[]>`
    select ${xid}::text::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) as future,
      coalesce((
        select (${xid}::text::xid8, ${id}::bigint)
          < (split_part(value, '.', 1)::xid8, split_part(value, '.', 2)::bigint)
        from meta where key = ${PRUNED_TO + tenantId}), false) as pruned`;
  if (row?.future) throw expired("the cursor is ahead of the database");
  if (row?.pruned) throw expired("the cursor is past retention");
}
