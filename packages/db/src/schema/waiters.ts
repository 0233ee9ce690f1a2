/** Bookings that did not fit and wait for room: any server may serve them. */
import type { PoolId, ReservationId, TenantId, WaiterAsk, WaiterKey } from "@berth/domain";
import { check, index, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { int53 } from "./columns.ts";

export const waiters = pgTable(
  "waiters",
  {
    /** The reservation's, once it is served. */
    id: text("id").$type<ReservationId>().primaryKey(),
    poolId: text("pool_id").$type<PoolId>().notNull(),
    tenantId: text("tenant_id").notNull(),
    /** Parent first. */
    ancestors: jsonb("ancestors").$type<TenantId[]>().notNull(),
    priority: integer("priority").notNull(),
    since: int53("since").notNull(),
    deadline: int53("deadline").notNull(),
    /** Whoever holds its caller's connection; see `servers`. */
    serverId: text("server_id").notNull(),
    key: jsonb("key").$type<WaiterKey>(),
    ask: jsonb("ask").$type<WaiterAsk>().notNull(),
    /** When it was served, gave up or ran out of time; kept for an hour, so that everybody learns of it. */
    doneAt: int53("done_at"),
    /** The gate's `seq` of its last change. */
    seq: int53("seq").notNull(),
  },
  (t) => [
    index("waiters_seq").on(t.poolId, t.seq),
    index("waiters_done").on(t.poolId, t.doneAt),
    check("waiters_window", sql`${t.since} < ${t.deadline}`),
  ],
);
