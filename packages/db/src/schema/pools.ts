/** Pools, to whom they are offered, with which quota, and what policies may test about them. */
import type { Agent, PoolClass, PoolId, PoolPolicy, SharingMode } from "@berth/domain";
import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
} from "drizzle-orm/pg-core";
import { bytea, int53 } from "./columns.ts";
import { providerAccounts, sites } from "./sites.ts";
import { tenants } from "./tenants.ts";

export const pools = pgTable(
  "pools",
  {
    id: text("id").$type<PoolId>().primaryKey(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.tenantId),
    siteId: text("site_id")
      .$type<`site_${string}`>()
      .notNull()
      .references(() => sites.id),
    region: text("region").notNull(),
    class: text("class").$type<PoolClass>().notNull(),
    gpuModel: text("gpu_model"),
    sharing: text("sharing").$type<SharingMode>().notNull(),
    agent: text("agent").$type<Agent>().notNull(),
    policy: jsonb("policy").$type<PoolPolicy>().notNull(),
    /** Sealed; only its owner's agents ever need it. */
    kubernetesToken: bytea("kubernetes_token"),
    providerAccountId: text("provider_account_id").references(() => providerAccounts.id),
    version: int53("version").notNull(),
    archivedAt: int53("archived_at"),
    createdBy: text("created_by").notNull(),
    idempotencyKey: text("idempotency_key"),
    createdAt: int53("created_at").notNull(),
    updatedAt: int53("updated_at").notNull(),
  },
  (t) => [
    index("pools_tenant").on(t.tenantId, t.createdAt.desc(), t.id.desc()),
    index("pools_site").on(t.siteId),
    check(
      "pools_class",
      sql`${t.class} in ('metal-host', 'metal-dedicated', 'vps-host', 'provider')`,
    ),
    check("pools_sharing", sql`${t.sharing} in ('exclusive', 'mig', 'timeslice', 'mps')`),
    check("pools_agent", sql`${t.agent} in ('bcd', 'none')`),
  ],
);

export const offers = pgTable(
  "offers",
  {
    poolId: text("pool_id").$type<PoolId>().notNull(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.tenantId),
    includeDescendants: boolean("include_descendants").notNull(),
    priority: integer("priority").notNull(),
    createdAt: int53("created_at").notNull(),
  },
  (t) => [
    primaryKey({ name: "offers_pk", columns: [t.poolId, t.tenantId] }),
    index("offers_tenant").on(t.tenantId),
  ],
);

export const quotas = pgTable(
  "quotas",
  {
    poolId: text("pool_id").$type<PoolId>().notNull(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.tenantId),
    resource: text("resource").notNull(),
    max: int53("max").notNull(),
    /** Peak concurrent use from `usedAt` on: shown, never decided by. */
    used: int53("used").notNull().default(0),
    usedAt: int53("used_at").notNull(),
  },
  (t) => [
    primaryKey({ name: "quotas_pk", columns: [t.poolId, t.tenantId, t.resource] }),
    check("quotas_range", sql`${t.max} >= 0 and ${t.used} >= 0`),
  ],
);

/** One row a pool and tenant that may act on it: written from the pool, never by hand. */
export const poolAuthz = pgTable(
  "pool_authz",
  {
    poolId: text("pool_id").$type<PoolId>().notNull(),
    tenantId: text("tenant_id").notNull(),
    gpuModel: text("gpu_model"),
    class: text("class").$type<PoolClass>().notNull(),
    sharing: text("sharing").$type<SharingMode>().notNull(),
    region: text("region").notNull(),
    owned: boolean("owned").notNull(),
    version: int53("version").notNull(),
  },
  (t) => [
    primaryKey({ name: "pool_authz_pk", columns: [t.poolId, t.tenantId] }),
    index("pool_authz_tenant").on(t.tenantId),
  ],
);
