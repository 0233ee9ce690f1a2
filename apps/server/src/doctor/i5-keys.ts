/**
 * I5: one idempotency key, one reservation; every live reservation can be found by its key; and nobody
 * waits for a reservation that is there, or longer than it wanted to.
 */
import { LIVE, type Check, type Query, type Violation } from "./query.ts";

const violation = (ids: readonly string[], message: string): Violation => ({
  invariant: "I5",
  ids,
  message,
});

async function doubled(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ tenant: string; principal: string; key: string; ids: string[] }>(
    `select tenant_id as tenant, principal, key, json_agg(reservation_id order by reservation_id) as ids
       from reservation_keys group by 1, 2, 3 having count(*) > 1 order by 1, 2, 3`,
  );
  return rows.map((row) =>
    violation(
      [row.tenant, ...row.ids],
      `key "${row.key}" of ${row.principal} in ${row.tenant} names ${row.ids.join(" and ")}`,
    ),
  );
}

async function shared(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; keys: string[] }>(
    `select reservation_id as id, json_agg(key order by key) as keys
       from reservation_keys group by 1 having count(*) > 1 order by 1`,
  );
  return rows.map((row) =>
    violation([row.id], `${row.id} is named by keys ${row.keys.join(", ")}`),
  );
}

async function dangling(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ key: string; id: string; tenant: string; exists: boolean }>(
    `select k.key, k.reservation_id as id, k.tenant_id as tenant, r.id is not null as exists
       from reservation_keys k left join reservations r on r.id = k.reservation_id
      where r.id is null or r.tenant_id <> k.tenant_id or r.pool_id <> k.pool_id
      order by 2, 1`,
  );
  return rows.map((row) =>
    violation(
      [row.tenant, row.id],
      row.exists
        ? `key "${row.key}" of ${row.tenant} names ${row.id}, which is another tenant's or pool's`
        : `key "${row.key}" of ${row.tenant} names ${row.id}, which does not exist`,
    ),
  );
}

async function keyless(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string }>(
    `select r.id from reservations r
      where r.state in ${LIVE}
        and not exists (select 1 from reservation_keys k where k.reservation_id = r.id)
      order by r.id`,
  );
  return rows.map((row) =>
    violation([row.id], `${row.id} is live but no key names it: a retry would book twice`),
  );
}

/** What was asked for under a key is known by its SHA-256 alone, in hex. */
async function hashless(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ tenant: string; key: string; id: string }>(
    `select tenant_id as tenant, key, reservation_id as id from reservation_keys
      where request_hash !~ '^[0-9a-f]{64}$' order by 1, 2`,
  );
  return rows.map(({ tenant, key, id }) =>
    violation(
      [tenant, id],
      `key "${key}" of ${tenant} names ${id}, but not what was asked for: a retry would be refused`,
    ),
  );
}

interface WaitingRow {
  readonly id: string;
  readonly tenant: string;
  readonly pool: string;
  readonly exists: boolean;
  readonly made: string | null;
  readonly late: boolean;
}

async function waiting(query: Query): Promise<readonly Violation[]> {
  const rows = await query<WaitingRow>(
    `select w.id, w.tenant_id as tenant, w.pool_id as pool, r.id is not null as exists,
            k.reservation_id as made, w.deadline <= g.last_at as late
       from waiters w join gates g on g.id = w.pool_id
       left join reservations r on r.id = w.id
       left join reservation_keys k on k.tenant_id = w.tenant_id
        and k.principal = w.key ->> 'principal' and k.key = w.key ->> 'key'
      where w.done_at is null
        and (r.id is not null or k.key is not null or w.deadline <= g.last_at)
      order by w.id`,
  );
  return rows.map(({ id, tenant, exists, made, late }) =>
    violation(
      [tenant, id, ...(made === null || made === id ? [] : [made])],
      exists
        ? `${id} of ${tenant} is there, yet somebody still waits for it`
        : made === null && late
          ? `${tenant} still waits for ${id}, past its deadline`
          : `${tenant} waits for ${id} with a key that made ${made}`,
    ),
  );
}

/** More than this many of one tenant never wait for one pool. */
const WAITERS_MAX = 100;

async function crowded(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ pool: string; tenant: string; many: number }>(
    `select pool_id as pool, tenant_id as tenant, count(*)::int4 as many from waiters
      where done_at is null group by 1, 2 having count(*) > ${WAITERS_MAX} order by 1, 2`,
  );
  return rows.map(({ pool, tenant, many }) =>
    violation([pool, tenant], `${tenant} waits ${many} times for ${pool}; ${WAITERS_MAX} is most`),
  );
}

export const keys: Check = {
  invariant: "I5",
  title: "one key names one reservation, and nobody waits for one that is there",
  async run(query) {
    const found: Violation[] = [];
    for (const look of [doubled, shared, dangling, keyless, hashless, waiting, crowded])
      found.push(...(await look(query)));
    return found;
  },
};
