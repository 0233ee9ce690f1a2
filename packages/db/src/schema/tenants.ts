/** Tenants form a tree by `parentId`. */
import { type AnyPgColumn, index, pgTable, text } from "drizzle-orm/pg-core";
import { int53 } from "./columns.ts";

export const tenants = pgTable(
  "tenants",
  {
    tenantId: text("tenant_id").primaryKey(),
    parentId: text("parent_id").references((): AnyPgColumn => tenants.tenantId),
    name: text("name"),
    createdAt: int53("created_at").notNull(),
  },
  (t) => [index("tenants_parent").on(t.parentId)],
);
