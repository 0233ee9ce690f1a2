/** Places with nodes, and the accounts that provider pools draw on. */
import { sql } from "drizzle-orm";
import { check, pgTable, text, unique } from "drizzle-orm/pg-core";
import { int53 } from "./columns.ts";
import { tenants } from "./tenants.ts";

export const sites = pgTable(
  "sites",
  {
    id: text("id").$type<`site_${string}`>().primaryKey(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.tenantId),
    name: text("name").notNull(),
    kind: text("kind").$type<"custom" | "platform">().notNull(),
    region: text("region").notNull(),
    desiredGen: int53("desired_gen").notNull().default(0),
    createdAt: int53("created_at").notNull(),
  },
  (t) => [
    unique("sites_name").on(t.tenantId, t.name),
    check("sites_kind", sql`${t.kind} in ('custom', 'platform')`),
  ],
);

export const providerAccounts = pgTable(
  "provider_accounts",
  {
    id: text("id").$type<`pacct_${string}`>().primaryKey(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.tenantId),
    name: text("name").notNull(),
    kind: text("kind").notNull(),
    createdAt: int53("created_at").notNull(),
  },
  (t) => [unique("provider_accounts_name").on(t.tenantId, t.name)],
);
