/** What happened: one row a tenant that may see it, its data already redacted for that tenant. */
import type { EventType, PoolId, ReservationId } from "@berth/domain";
import { sql } from "drizzle-orm";
import { bigint, index, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { int53, xid8 } from "./columns.ts";

export const events = pgTable(
  "events",
  {
    id: bigint("id", { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    /** The feed is read in the order of (xid, id), below the snapshot horizon. */
    xid: xid8("xid")
      .notNull()
      .default(sql`pg_current_xact_id()`),
    tenantId: text("tenant_id").notNull(),
    eventId: text("event_id").$type<`evt_${string}`>().notNull(),
    /** The gate's id, or a stream's: `(stream, seq, idx)` is the order of what happened there. */
    stream: text("stream").notNull(),
    poolId: text("pool_id").$type<PoolId>(),
    reservationId: text("reservation_id").$type<ReservationId>(),
    seq: int53("seq").notNull(),
    idx: integer("idx").notNull(),
    type: text("type").$type<EventType>().notNull(),
    at: int53("at").notNull(),
    data: jsonb("data").$type<Record<string, unknown>>().notNull(),
  },
  (t) => [index("events_feed").on(t.tenantId, t.xid, t.id)],
);

/** Sequence numbers of events that belong to no gate: `tenant:<id>` and the fleet's. */
export const streams = pgTable("streams", {
  id: text("id").primaryKey(),
  seq: int53("seq").notNull(),
});
