/**
 * I7: no booking was made on a unit that was withheld from its tenant for that window: a unit outside the
 * booking's pool, a node whose maintenance was announced before, a pool the tenant was never given.
 */
import { instant, LIVE, type Check, type Query, type Violation } from "./query.ts";

const violation = (ids: readonly string[], message: string): Violation => ({
  invariant: "I7",
  ids,
  message,
});

async function outsideThePool(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; unit: string; pool: string; gate: string }>(
    `select r.id, u.id as unit, r.pool_id as pool, u.gate_id as gate
       from bookings b
       join reservations r on r.id = b.reservation_id and r.state in ${LIVE}
       join units u on u.key = b.unit_key
      where u.gate_id <> r.pool_id order by 1, 2`,
  );
  return rows.map((row) =>
    violation(
      [row.id, row.unit],
      `${row.id} of ${row.pool} holds ${row.unit}, which belongs to ${row.gate}`,
    ),
  );
}

/** A window announced after the booking was made is another matter: its holder stays. */
async function underMaintenance(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{
    id: string;
    node: string;
    window: string;
    start: number;
    end: number;
  }>(
    `select distinct r.id, m.node_id as node, m.id as window, m.start::float8 as start,
            m."end"::float8 as "end"
       from bookings b
       join reservations r on r.id = b.reservation_id and r.state in ${LIVE}
       join units u on u.key = b.unit_key
       join maintenance m on m.node_id = u.node_id and m.state <> 'cancelled'
        and m.created_at < r.created_at and int8range(m.start, m."end") && b.during
      order by 1, 3`,
  );
  return rows.map((row) =>
    violation(
      [row.id, row.node, row.window],
      `${row.id} was booked on ${row.node} into its maintenance ${row.window}, ` +
        `${instant(row.start)} to ${instant(row.end)}`,
    ),
  );
}

/** Quota rows outlive an offer, so whoever was ever given the pool has one. */
async function neverOffered(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; tenant: string; pool: string }>(
    `select r.id, r.charged_tenant_id as tenant, r.pool_id as pool
       from reservations r join pools p on p.id = r.pool_id
      where r.state in ${LIVE} and r.charged_tenant_id <> p.tenant_id
        and not exists (select 1 from quotas q
                         where q.pool_id = r.pool_id and q.tenant_id = r.charged_tenant_id)
        and not exists (select 1 from offers o
                         where o.pool_id = r.pool_id and o.tenant_id = r.charged_tenant_id)
      order by 1`,
  );
  return rows.map((row) =>
    violation(
      [row.id, row.tenant, row.pool],
      `${row.id} is charged to ${row.tenant}, which ${row.pool} was never offered to`,
    ),
  );
}

export const withheld: Check = {
  invariant: "I7",
  title: "no booking was made on a unit withheld from its tenant",
  async run(query) {
    const found: Violation[] = [];
    for (const look of [outsideThePool, underMaintenance, neverOffered]) {
      found.push(...(await look(query)));
    }
    return found;
  },
};
