/** Units of one node that are ring-fenced for a term, and the terms unit by unit. */
import type {
  GateId,
  NodeId,
  TenantId,
  UnitId,
  UnitReservationId,
  UnitReservationStatus,
} from "@berth/domain";
import { sql } from "drizzle-orm";
import { bigint, check, index, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int53, int8range } from "./columns.ts";
import { nodes } from "./nodes.ts";

export const unitReservations = pgTable(
  "unit_reservations",
  {
    id: text("id").$type<UnitReservationId>().primaryKey(),
    /** Its node's. A live one moves with its node; one that ended stays where it ended. */
    gateId: text("gate_id").$type<GateId>().notNull(),
    nodeId: text("node_id")
      .$type<NodeId>()
      .notNull()
      .references(() => nodes.id),
    status: text("status").$type<UnitReservationStatus>().notNull(),
    allowedOrgIds: jsonb("allowed_org_ids").$type<TenantId[]>().notNull(),
    managingOrgIds: jsonb("managing_org_ids").$type<TenantId[]>().notNull(),
    unitIds: jsonb("unit_ids").$type<UnitId[]>().notNull(),
    releasedUnitIds: jsonb("released_unit_ids").$type<UnitId[]>().notNull(),
    startsAt: int53("starts_at").notNull(),
    /** Null: until it is cancelled. */
    endsAt: int53("ends_at"),
    endedAt: int53("ended_at"),
    topologyGen: int53("topology_gen").notNull(),
    reason: text("reason"),
    contractRef: text("contract_ref"),
    createdBy: text("created_by").notNull(),
    createdAt: int53("created_at").notNull(),
    updatedAt: int53("updated_at").notNull(),
    /** The gate's `seq` of its last change. */
    seq: int53("seq").notNull(),
  },
  (t) => [
    index("unit_reservations_seq").on(t.gateId, t.seq),
    index("unit_reservations_node").on(t.nodeId, t.createdAt.desc(), t.id.desc()),
    check("unit_reservations_window", sql`${t.startsAt} < ${t.endsAt}`),
    check(
      "unit_reservations_status",
      sql`${t.status} in ('pending', 'active', 'expired', 'cancelled', 'needs-review')`,
    ),
    check(
      "unit_reservations_ended",
      sql`(${t.endedAt} is null) = (${t.status} in ('pending', 'active', 'needs-review'))`,
    ),
  ],
);

/** One unit of a live unit reservation, for its term. Two that overlap cannot both be stored (exclusion constraint). */
export const unitTerms = pgTable(
  "unit_terms",
  {
    unitReservationId: text("unit_reservation_id").$type<UnitReservationId>().notNull(),
    unitKey: bigint("unit_key", { mode: "number" }).notNull(),
    /** Without an upper bound while it has no end. */
    during: int8range("during").notNull(),
  },
  (t) => [
    primaryKey({ name: "unit_terms_pk", columns: [t.unitReservationId, t.unitKey] }),
    check("unit_terms_window", sql`not isempty(${t.during}) and lower(${t.during}) is not null`),
  ],
);
