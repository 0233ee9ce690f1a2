/** Who called what, with which outcome. Not the events: those tell what became of it. */
import { bigint, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { int53 } from "./columns.ts";

export const audit = pgTable(
  "audit",
  {
    id: bigint("id", { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    at: int53("at").notNull(),
    principal: text("principal").notNull(),
    tenantId: text("tenant_id").notNull(),
    method: text("method").notNull(),
    outcome: text("outcome").notNull(),
    target: text("target"),
    requestId: text("request_id").notNull(),
    /** Calls that the row stands for: refusals of one minute are counted, not listed. */
    count: integer("count").notNull().default(1),
  },
  (t) => [index("audit_tenant").on(t.tenantId, t.id)],
);
