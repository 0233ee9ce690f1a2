/** Reservations, the unit windows that they hold, and the idempotency keys that made them. */
import type {
  Binding,
  Degraded,
  DeviceLine,
  Gang,
  Member,
  NodeSetup,
  Pin,
  PoolId,
  Preemption,
  ProjectId,
  ReservationId,
  ReservationState,
  ScalarAmounts,
  Topology,
} from "@berth/domain";
import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
} from "drizzle-orm/pg-core";
import { int53, int8range } from "./columns.ts";

export const reservations = pgTable(
  "reservations",
  {
    id: text("id").$type<ReservationId>().primaryKey(),
    poolId: text("pool_id").$type<PoolId>().notNull(),
    tenantId: text("tenant_id").notNull(),
    chargedTenantId: text("charged_tenant_id").notNull(),
    projectId: text("project_id").$type<ProjectId>(),
    state: text("state").$type<ReservationState>().notNull(),
    binding: text("binding").$type<Binding>().notNull(),
    gang: jsonb("gang").$type<Gang>(),
    /** Only of a lease of whole nodes. */
    nodeSetup: jsonb("node_setup").$type<NodeSetup>(),
    spot: boolean("spot").notNull(),
    start: int53("start").notNull(),
    end: int53("end").notNull(),
    startedAt: int53("started_at"),
    preemption: jsonb("preemption").$type<Preemption>(),
    degraded: jsonb("degraded").$type<Degraded>(),
    /** What early victims gave back to it: its bookings of those units begin then. */
    pins: jsonb("pins").$type<Pin[]>().notNull().default([]),
    leaseSeconds: integer("lease_seconds"),
    leaseExpiresAt: int53("lease_expires_at"),
    endingSoonAt: int53("ending_soon_at"),
    topology: text("topology").$type<Topology>().notNull(),
    devices: jsonb("devices").$type<DeviceLine[]>().notNull(),
    resources: jsonb("resources").$type<ScalarAmounts>().notNull(),
    members: jsonb("members").$type<Member[]>().notNull(),
    endedAt: int53("ended_at"),
    endReason: text("end_reason"),
    version: int53("version").notNull(),
    createdBy: text("created_by").notNull(),
    createdAt: int53("created_at").notNull(),
    updatedAt: int53("updated_at").notNull(),
    /** The gate's `seq` of its last change. */
    seq: int53("seq").notNull(),
  },
  (t) => [
    index("reservations_seq").on(t.poolId, t.seq),
    index("reservations_live")
      .on(t.poolId)
      .where(sql`state in ('scheduled', 'active', 'preempting')`),
    index("reservations_tenant").on(t.tenantId, t.createdAt.desc(), t.id.desc()),
    check("reservations_window", sql`${t.start} < ${t.end}`),
    check(
      "reservations_state",
      sql`${t.state} in ('scheduled', 'active', 'preempting', 'completed', 'released', 'expired', 'preempted', 'terminated')`,
    ),
    check(
      "reservations_ended",
      sql`(${t.endedAt} is null) = (${t.state} in ('scheduled', 'active', 'preempting'))`,
    ),
    check(
      "reservations_begun",
      sql`case ${t.state} when 'scheduled' then ${t.startedAt} is null when 'active' then ${t.startedAt} is not null else true end`,
    ),
    check("reservations_binding", sql`${t.binding} in ('hold', 'node')`),
  ],
);

/** One unit held for one window. Two that overlap cannot both be stored (exclusion constraint). */
export const bookings = pgTable(
  "bookings",
  {
    poolId: text("pool_id").$type<PoolId>().notNull(),
    reservationId: text("reservation_id").$type<ReservationId>().notNull(),
    unitKey: bigint("unit_key", { mode: "number" }).notNull(),
    during: int8range("during").notNull(),
  },
  (t) => [
    primaryKey({ name: "bookings_pk", columns: [t.reservationId, t.unitKey] }),
    // An empty range overlaps nothing, so the constraint would let it by.
    check(
      "bookings_window",
      sql`not isempty(${t.during}) and lower(${t.during}) is not null and upper(${t.during}) is not null`,
    ),
  ],
);

export const reservationKeys = pgTable(
  "reservation_keys",
  {
    tenantId: text("tenant_id").notNull(),
    principal: text("principal").notNull(),
    key: text("key").notNull(),
    requestHash: text("request_hash").notNull(),
    reservationId: text("reservation_id").$type<ReservationId>().notNull(),
    poolId: text("pool_id").$type<PoolId>().notNull(),
    createdAt: int53("created_at").notNull(),
  },
  (t) => [primaryKey({ name: "reservation_keys_pk", columns: [t.tenantId, t.principal, t.key] })],
);
