/**
 * I7: no booking was made on a unit that was withheld from its tenant for that window: a unit outside the
 * booking's pool, a node whose maintenance was announced before, a pool the tenant was never given, or a
 * unit that a unit reservation keeps for others.
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

/** Whose a node is, is written beside everything of it: what a gate does not read it does not withhold. */
async function copies(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; node: string; says: string; is: string }>(
    `select c.id, n.id as node, c.gate_id as says, coalesce(n.pool_id, n.id) as is
       from nodes n
       join (select id, id as node_id, gate_id from nodes
             union all select id, node_id, gate_id from units where gone_at is null
             union all select id, node_id, gate_id from maintenance
                        where state in ('scheduled', 'active')) c on c.node_id = n.id
      where n.removed_at is null and c.gate_id is distinct from coalesce(n.pool_id, n.id)
      order by 1, 2`,
  );
  return rows.map(({ id, node, says, is }) =>
    violation([id, node], `${id} says it is in ${says}; its node ${node} is in ${is}`),
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

interface FencedRow {
  readonly id: string;
  readonly tenant: string;
  readonly unit: string;
  readonly fence: string;
  readonly start: number;
  readonly end: number;
}

/**
 * When a unit reservation is made no outsider has a booking in its term, and none is made there later; so
 * whatever an outsider holds there is wrong, unless it is spot and the unit is on the spot market. While
 * it needs a review nobody gets anything new. What cannot be told from the rows: what the audience
 * booked on units before they were released, and which bookings of ended terms were moved there since.
 */
async function fenced(query: Query): Promise<readonly Violation[]> {
  const rows = await query<FencedRow>(
    `select r.id, r.tenant_id as tenant, u.id as unit, v.id as fence,
            lower(t.during * b.during)::float8 as start, upper(t.during * b.during)::float8 as "end"
       from unit_reservations v
       join unit_terms t on t.unit_reservation_id = v.id
       join bookings b on b.unit_key = t.unit_key and b.during && t.during
       join reservations r on r.id = b.reservation_id and r.state in ${LIVE}
       join units u on u.key = t.unit_key
      where v.ended_at is null
        and (not v.allowed_org_ids ? r.tenant_id and not (r.spot and v.released_unit_ids ? u.id)
          or v.status = 'needs-review' and r.created_at > v.updated_at)
      order by 1, 3`,
  );
  return rows.map((row) =>
    violation(
      [row.id, row.unit, row.fence],
      `${row.id} of ${row.tenant} holds ${row.unit} from ${instant(row.start)} to ` +
        `${instant(row.end)}, when ${row.fence} withholds it`,
    ),
  );
}

/** The terms are what the unit reservations say: a live one's units, each for the whole of it. */
async function terms(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; unit: string; missing: boolean }>(
    `select coalesce(w.id, s.id) as id, coalesce(w.unit, s.unit) as unit, s.id is null as missing
       from (select v.id, n.unit, int8range(v.starts_at, v.ends_at) as during
               from unit_reservations v, jsonb_array_elements_text(v.unit_ids) n (unit)
              where v.ended_at is null) w
       full join (select t.unit_reservation_id as id, coalesce(u.id, t.unit_key::text) as unit, t.during
                    from unit_terms t left join units u on u.key = t.unit_key) s
         on s.id = w.id and s.unit = w.unit and s.during = w.during
      where w.id is null or s.id is null order by 1, 2`,
  );
  return rows.map(({ id, unit, missing }) =>
    violation(
      [id, unit],
      missing
        ? `${id} reserves ${unit}, but no term of it is stored: nothing would keep others off`
        : `there is a term of ${unit} for ${id}, which does not say so`,
    ),
  );
}

/** A live unit reservation is its node's, in every way; and its status is what its gate's time says. */
async function misplaced(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; node: string; wrong: string }>(
    `select v.id, v.node_id as node, x.wrong
       from unit_reservations v left join nodes n on n.id = v.node_id
       left join gates g on g.id = v.gate_id
      cross join lateral (values
        ('it is in another gate than its node', n.gate_id is distinct from v.gate_id),
        ('its node is gone', n.removed_at is not null),
        ('it reserves a unit that is not whole, or not on its node', exists (
          select from jsonb_array_elements_text(v.unit_ids) a (id) left join units u on u.id = a.id
           where u.node_id is distinct from v.node_id or u.class <> 'gpu' or u.carrier)),
        ('it releases a unit that it does not reserve', not v.unit_ids @> v.released_unit_ids),
        ('its term has begun', v.status = 'pending' and v.starts_at <= g.last_at),
        ('its term has not begun', v.status = 'active' and v.starts_at > g.last_at),
        ('its term is over', v.ends_at <= g.last_at)) x (wrong, holds)
      where v.ended_at is null and x.holds order by 1, 3`,
  );
  return rows.map(({ id, node, wrong }) =>
    violation([id, node], `${id} of ${node} stands, although ${wrong}`),
  );
}

export const withheld: Check = {
  invariant: "I7",
  title: "no booking was made on a unit withheld from its tenant",
  async run(query) {
    const found: Violation[] = [];
    for (const look of [
      outsideThePool,
      copies,
      underMaintenance,
      neverOffered,
      fenced,
      terms,
      misplaced,
    ]) {
      found.push(...(await look(query)));
    }
    return found;
  },
};
