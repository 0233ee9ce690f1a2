/** Nodes, their units, and the windows in which they are out of service. */
import type {
  GateId,
  MaintenanceId,
  MigPlacements,
  NodeId,
  NodeState,
  PoolId,
  SiteId,
  UnitClass,
  UnitId,
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
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { int53 } from "./columns.ts";
import { sites } from "./sites.ts";

export const nodes = pgTable(
  "nodes",
  {
    id: text("id").$type<NodeId>().primaryKey(),
    siteId: text("site_id")
      .$type<SiteId>()
      .notNull()
      .references(() => sites.id),
    /** The pool's, or its own while it is in no pool. */
    gateId: text("gate_id").$type<GateId>().notNull(),
    poolId: text("pool_id").$type<PoolId>(),
    name: text("name").notNull(),
    address: text("address"),
    state: text("state").$type<NodeState>().notNull(),
    labels: jsonb("labels").$type<Record<string, string>>().notNull(),
    vcpu: integer("vcpu").notNull(),
    memoryGib: integer("memory_gib").notNull(),
    hugepages1gi: integer("hugepages_1gi").notNull(),
    topologyGen: int53("topology_gen").notNull(),
    version: int53("version").notNull(),
    tenantOwned: boolean("tenant_owned").notNull(),
    /** Null while it is registered. */
    removedAt: int53("removed_at"),
    seq: int53("seq").notNull(),
  },
  (t) => [
    uniqueIndex("nodes_name")
      .on(t.siteId, t.name)
      .where(sql`removed_at is null`),
    index("nodes_gate").on(t.gateId, t.seq),
    check(
      "nodes_state",
      sql`${t.state} in ('ready', 'provisioning', 'unhealthy', 'maintenance', 'unreachable')`,
    ),
    check("nodes_scalars", sql`${t.vcpu} >= 0 and ${t.memoryGib} >= 0 and ${t.hugepages1gi} >= 0`),
  ],
);

export const units = pgTable(
  "units",
  {
    /** What bookings refer to: text ids in the exclusion constraint's index cost three times as much. */
    key: bigint("key", { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    id: text("id").$type<UnitId>().notNull().unique("units_id"),
    nodeId: text("node_id")
      .$type<NodeId>()
      .notNull()
      .references(() => nodes.id),
    gateId: text("gate_id").$type<GateId>().notNull(),
    class: text("class").$type<UnitClass>().notNull(),
    index: integer("index").notNull(),
    model: text("model"),
    profile: text("profile"),
    placement: integer("placement"),
    gpuUuid: text("gpu_uuid"),
    pciAddress: text("pci_address"),
    memoryGib: integer("memory_gib"),
    nvlinkDomain: text("nvlink_domain"),
    vfioGroup: text("vfio_group"),
    parentUnitId: text("parent_unit_id").$type<UnitId>(),
    healthy: boolean("healthy").notNull(),
    /** Missing from the last report, kept because it is booked. */
    removed: boolean("removed").notNull(),
    /** A GPU of a pool that shares GPUs: what is booked are its parts. */
    carrier: boolean("carrier").notNull().default(false),
    /** Its own table of MIG placements, when its node reported one. */
    migProfiles: jsonb("mig_profiles").$type<MigPlacements[]>(),
    /** When it left its node for good; the row stays for past bookings and a key is never given twice. */
    goneAt: int53("gone_at"),
  },
  (t) => [
    index("units_node").on(t.nodeId),
    index("units_gpu_uuid").on(t.gpuUuid),
    check("units_class", sql`${t.class} in ('gpu', 'gpu.mig', 'gpu.slot', 'nic.vf', 'disk')`),
  ],
);

export const maintenance = pgTable(
  "maintenance",
  {
    id: text("id").$type<MaintenanceId>().primaryKey(),
    nodeId: text("node_id")
      .$type<NodeId>()
      .notNull()
      .references(() => nodes.id),
    gateId: text("gate_id").$type<GateId>().notNull(),
    start: int53("start").notNull(),
    end: int53("end").notNull(),
    state: text("state").$type<"scheduled" | "active" | "ended" | "cancelled">().notNull(),
    createdAt: int53("created_at").notNull(),
  },
  (t) => [
    index("maintenance_node").on(t.nodeId),
    check("maintenance_window", sql`${t.start} < ${t.end}`),
    check("maintenance_state", sql`${t.state} in ('scheduled', 'active', 'ended', 'cancelled')`),
  ],
);
