/** The gate of a pool (or of a node in no pool): the one row whose lock orders every write to it. */
import type { GateId } from "@berth/domain";
import { index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int53 } from "./columns.ts";

export const gates = pgTable("gates", {
  /** The pool's id, or the node's while it is in no pool. */
  id: text("id").$type<GateId>().primaryKey(),
  /** Raised by one with every batch. */
  seq: int53("seq").notNull(),
  /** The clock of the last batch: a gate's time never runs back. */
  lastAt: int53("last_at").notNull(),
  /** `seq` of the last batch that changed the configuration, or a node. */
  configSeq: int53("config_seq").notNull(),
  fleetSeq: int53("fleet_seq").notNull(),
  /** Whoever knows less than this cannot catch up: a node left, or what was done long ago was forgotten. */
  resetSeq: int53("reset_seq").notNull(),
  /** End of the last outage that its leases were raised for. */
  graceTo: int53("grace_to").notNull().default(0),
});

/** Which batches were written: how an unknown outcome is resolved. Kept for an hour. */
export const gateBatches = pgTable(
  "gate_batches",
  {
    gateId: text("gate_id").$type<GateId>().notNull(),
    seq: int53("seq").notNull(),
    batchId: text("batch_id").notNull().unique("gate_batches_batch"),
    at: int53("at").notNull(),
  },
  (t) => [primaryKey({ name: "gate_batches_pk", columns: [t.gateId, t.seq] })],
);

/** When a gate next has something due by itself: a start, an end, a lapse. */
export const poolDue = pgTable(
  "pool_due",
  {
    gateId: text("gate_id").$type<GateId>().primaryKey(),
    nextAt: int53("next_at"),
  },
  (t) => [index("pool_due_next").on(t.nextAt)],
);
