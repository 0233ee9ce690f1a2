/** Events as rows: one a view, so that a reader's rows hold only what that reader may see. */
import type { DomainEvent } from "@berth/domain";
import type { Parameter, SlotTransaction } from "./slot-pool.ts";

/** What `berth.write_events_v1` reads. */
export function eventRows(events: readonly DomainEvent[]): object[] {
  return events.flatMap(({ id, type, at, reservationId, views }, idx) =>
    views.map(({ tenantId, data }) => ({
      tenant_id: tenantId,
      event_id: id,
      reservation_id: reservationId,
      idx,
      type,
      at,
      data,
    })),
  );
}

/**
 * Writes events that belong to no pool, in the transaction that does what they tell of.
 * @param stream `tenant:<id>`, or `fleet`: the order of these events is theirs alone
 */
export async function emitEvents(
  tx: SlotTransaction,
  stream: string,
  events: readonly DomainEvent[],
): Promise<void> {
  const rows = eventRows(events);
  if (rows.length === 0) return;
  await tx.q("select berth_emit_v1($1, $2::jsonb)", [stream, rows as Parameter]);
}
