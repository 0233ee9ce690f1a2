/** Rows of what is not there: hot tables have no foreign keys, so nothing but the gate keeps them together. */
import type { Query, Violation } from "./query.ts";

/** A table, the one that its rows belong to, and the columns by which, in this and in the other. */
const BELONGS: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
  ["offers", "pools", { pool_id: "id" }],
  ["offers", "pool_authz", { pool_id: "pool_id", tenant_id: "tenant_id" }],
  ["quotas", "pools", { pool_id: "id" }],
  ["rollups", "pools", { pool_id: "id" }],
  ["pool_authz", "pools", { pool_id: "id" }],
  ["reservations", "pools", { pool_id: "id" }],
  ["waiters", "pools", { pool_id: "id" }],
  ["pools", "gates", { id: "id" }],
  ["pool_due", "gates", { gate_id: "id" }],
  ["gate_batches", "gates", { gate_id: "id" }],
  ["nodes", "gates", { gate_id: "id" }],
  ["units", "nodes", { node_id: "id" }],
  ["bookings", "units", { unit_key: "key" }],
  ["unit_terms", "units", { unit_key: "key" }],
  ["unit_reservations", "nodes", { node_id: "id" }],
];

export async function strays(query: Query): Promise<readonly Violation[]> {
  const found: Violation[] = [];
  for (const [table, other, by] of BELONGS) {
    const names = Object.keys(by).map((name) => `t.${name}`);
    const same = Object.entries(by).map(([name, key]) => `o.${key} = t.${name}`);
    const rows = await query<{ id: string; times: number }>(
      `select concat_ws(' ', ${names.join(", ")}) as id, count(*)::int4 as times from ${table} t
        where not exists (select from ${other} o where ${same.join(" and ")}) group by 1 order by 1`,
    );
    for (const { id, times } of rows)
      found.push({
        invariant: "I4",
        ids: [table, id],
        message: `${table} has ${times} rows of ${id}, which is not in ${other}`,
      });
  }
  return found;
}
