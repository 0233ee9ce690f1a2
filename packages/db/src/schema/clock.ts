/** Who is there, and whether time went on without anybody: what keeps an outage from ending leases. */
import { sql } from "drizzle-orm";
import { boolean, check, pgTable, text } from "drizzle-orm/pg-core";
import { int53 } from "./columns.ts";

/** One row a running server, written each second. */
export const servers = pgTable("servers", {
  id: text("id").primaryKey(),
  /** The database's own clock, whatever the product's is made to say. */
  beatAt: int53("beat_at").notNull(),
});

/** One row: when anybody was last there, by both clocks. */
export const clock = pgTable(
  "clock",
  {
    one: boolean("one").primaryKey().default(true),
    /** The database's own clock at the last beat of any server; null before the first. */
    beatAt: int53("beat_at"),
    /** The product's clock at that beat. */
    beatNow: int53("beat_now"),
    /** End of the latest outage: what a gate's `grace_to` is compared with. */
    outageTo: int53("outage_to").notNull().default(0),
    /** Since this instant no lease lapses: the clock leapt, and an operator has to accept it. */
    heldSince: int53("held_since"),
    /** The database's own clock when it was last accepted. */
    acceptedAt: int53("accepted_at"),
  },
  (t) => [check("clock_one", sql`${t.one}`)],
);

/** Stretches of the product's time in which nobody could renew a lease. */
export const outages = pgTable(
  "outages",
  {
    toAt: int53("to_at").primaryKey(),
    fromAt: int53("from_at").notNull(),
  },
  (t) => [check("outages_window", sql`${t.fromAt} < ${t.toAt}`)],
);
