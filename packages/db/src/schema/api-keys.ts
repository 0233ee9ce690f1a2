/** API keys: a SHA-256 of the secret, never the secret. */
import type { KeyId, PoolId } from "@berth/domain";
import { index, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { bytea, int53 } from "./columns.ts";
import { tenants } from "./tenants.ts";

export const apiKeys = pgTable(
  "api_keys",
  {
    id: text("id").$type<KeyId>().primaryKey(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.tenantId),
    name: text("name").notNull(),
    role: text("role").notNull(),
    scope: jsonb("scope").$type<{ poolIds?: PoolId[]; actions?: string[] }>(),
    secretHash: bytea("secret_hash").notNull(),
    createdBy: text("created_by"),
    createdAt: int53("created_at").notNull(),
    expiresAt: int53("expires_at"),
    revokedAt: int53("revoked_at"),
    lastUsedAt: int53("last_used_at"),
  },
  (t) => [index("api_keys_tenant").on(t.tenantId, t.createdAt.desc(), t.id.desc())],
);
