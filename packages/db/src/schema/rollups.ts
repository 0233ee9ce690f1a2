/** The counted capacity row of a pool and resource, as of `updatedAt`. */
import type { PoolId, Resource } from "@berth/domain";
import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int53 } from "./columns.ts";

export const rollups = pgTable(
  "rollups",
  {
    poolId: text("pool_id").$type<PoolId>().notNull(),
    resource: text("resource").$type<Resource>().notNull(),
    total: int53("total").notNull(),
    allocatable: int53("allocatable").notNull(),
    allocated: int53("allocated").notNull(),
    reserved: int53("reserved").notNull(),
    available: int53("available").notNull(),
    provisioning: int53("provisioning").notNull(),
    unhealthy: int53("unhealthy").notNull(),
    maintenance: int53("maintenance").notNull(),
    unreachable: int53("unreachable").notNull(),
    updatedAt: int53("updated_at").notNull(),
  },
  (t) => [primaryKey({ name: "rollups_pk", columns: [t.poolId, t.resource] })],
);
