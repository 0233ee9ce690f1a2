/**
 * I6: every change has its event, written with it: each reservation tells how it began and how it ended,
 * each pool that it was made, and a pool's write history has no gap and nothing from the future.
 */
import { instant, LIVE, type Check, type Query, type Violation } from "./query.ts";

/** Events are kept this long; older history is not asked for. */
const KEPT_MS = 29 * 86_400_000;

const violation = (ids: readonly string[], message: string): Violation => ({
  invariant: "I6",
  ids,
  message,
});

/** What a reservation's present state says must have been told. */
async function untold(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; state: string; missing: string }>(
    `select r.id, r.state, t.type as missing
       from reservations r
      cross join lateral (values
        ('reservation.created', true),
        ('reservation.activated', r.start > r.created_at and r.started_at is not null),
        ('reservation.preempting', r.state = 'preempting'),
        ('reservation.degraded', r.degraded is not null),
        ('reservation.' || r.state, r.state not in ${LIVE})) t(type, due)
      where t.due and r.created_at > berth.now_ms() - $1::bigint
        and not exists (select 1 from events e where e.reservation_id = r.id and e.type = t.type
                           and e.tenant_id = r.tenant_id)
      order by r.id, t.type`,
    [KEPT_MS],
  );
  return rows.map((row) =>
    violation(
      [row.id],
      `${row.id} is ${row.state}, yet no ${row.missing} was ever told its tenant`,
    ),
  );
}

/** One beginning and one end each, however often a transition was tried. */
async function toldTwice(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; type: string; times: number }>(
    `select reservation_id as id, type, count(*)::int4 as times from events
      where type in ('reservation.created', 'reservation.activated', 'reservation.completed',
                     'reservation.released', 'reservation.expired', 'reservation.terminated',
                     'reservation.preempted')
      group by reservation_id, tenant_id, type having count(*) > 1 order by 1, 2`,
  );
  return rows.map((row) =>
    violation([row.id], `${row.type} of ${row.id} was told ${row.times} times`),
  );
}

/** An end that was told of a reservation that has not ended so. */
async function untrue(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; type: string; state: string | null; at: number }>(
    `select e.reservation_id as id, e.type, r.state, max(e.at)::float8 as at
       from events e left join reservations r on r.id = e.reservation_id
      where e.type in ('reservation.completed', 'reservation.released', 'reservation.expired',
                       'reservation.terminated', 'reservation.preempted')
        and (r.id is null or e.type <> 'reservation.' || r.state)
      group by 1, 2, 3 order by 1, 2`,
  );
  return rows.map((row) =>
    violation(
      [row.id],
      `${row.type} of ${row.id} was told at ${instant(row.at)}, but ` +
        (row.state === null ? "it does not exist" : `it is ${row.state}`),
    ),
  );
}

/** The newest that was told of notice and reprieve, and of a start, is what is so. */
async function contradicted(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; type: string; state: string }>(
    `select r.id, e.type, r.state
       from reservations r
       join (select distinct on (reservation_id, tenant_id, started) *
               from (select reservation_id, tenant_id, type, seq, idx,
                            type = 'reservation.activated' as started from events
                      where type in ('reservation.preempting', 'reservation.reprieved',
                                     'reservation.activated')) told
              order by reservation_id, tenant_id, started, seq desc, idx desc) e
         on e.reservation_id = r.id and e.tenant_id = r.tenant_id
      where r.state in ${LIVE}
        and case when e.started then r.started_at is null
                 else (e.type = 'reservation.preempting') <> (r.state = 'preempting') end
      order by 1, 2`,
  );
  return rows.map(({ id, type, state }) =>
    violation([id], `the last that was told of ${id} is ${type}, but it is ${state}`),
  );
}

/** A write's events are numbered from 0; none of them is missing for everybody. */
async function holes(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ stream: string; seq: number; told: number; last: number }>(
    `select stream, seq::float8 as seq, count(distinct idx)::int4 as told, max(idx)::int4 as last
       from events where at > berth.now_ms() - $1::bigint
      group by stream, seq having count(distinct idx) <> max(idx) + 1 order by 1, 2`,
    [KEPT_MS],
  );
  return rows.map(({ stream, seq, told, last }) =>
    violation(
      [stream],
      `write ${seq} of ${stream} told ${told} events, the last of them as number ${last + 1}`,
    ),
  );
}

/** What a unit reservation's present state says must have been told, to whoever is told of it. */
async function untoldTerms(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; status: string; missing: string }>(
    `select v.id, v.status, t.type as missing
       from unit_reservations v
      cross join lateral (values
        ('unitReservation.created', true),
        ('unitReservation.expired', v.status = 'expired'),
        ('unitReservation.cancelled', v.status = 'cancelled'),
        ('unitReservation.needsReview', v.status = 'needs-review'),
        ('unitReservation.released', jsonb_array_length(v.released_unit_ids) > 0)) t(type, due)
      where t.due and v.created_at > berth.now_ms() - $1::bigint
        and not exists (select 1 from events e where e.type = t.type
                           and e.data ->> 'unitReservationId' = v.id)
      order by v.id, t.type`,
    [KEPT_MS],
  );
  return rows.map((row) =>
    violation([row.id], `${row.id} is ${row.status}, yet no ${row.missing} was ever told`),
  );
}

/** Windows of maintenance: each announced, and told when it began, ended or was called off. */
async function untoldMaintenance(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; node: string; state: string; missing: string }>(
    `select m.id, m.node_id as node, m.state, t.type as missing
       from maintenance m
      cross join lateral (values
        ('maintenance.scheduled', true),
        ('maintenance.started', m.state = 'active')) t(type, due)
      where t.due and m.created_at > berth.now_ms() - $1::bigint
        and not exists (select 1 from events e where e.type = t.type
                           and e.data ->> 'maintenanceId' = m.id)
      order by m.id, t.type`,
    [KEPT_MS],
  );
  return rows.map((row) =>
    violation(
      [row.id, row.node],
      `${row.id} of ${row.node} is ${row.state}, yet no ${row.missing} was ever told`,
    ),
  );
}

async function untoldPools(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string }>(
    `select p.id from pools p
      where p.created_at > berth.now_ms() - $1::bigint
        and not exists (select 1 from events e where e.pool_id = p.id and e.type = 'pool.created')
      order by p.id`,
    [KEPT_MS],
  );
  return rows.map((row) => violation([row.id], `${row.id} exists, yet no pool.created was told`));
}

/** Every write of a gate left its batch, one after the other. */
async function gaps(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; seq: number; last: number }>(
    `select g.id, g.seq::float8 as seq, max(b.seq)::float8 as last
       from gates g join gate_batches b on b.gate_id = g.id
      group by g.id, g.seq having max(b.seq) > g.seq order by g.id`,
  );
  return rows.map((row) =>
    violation([row.id], `${row.id} stands at ${row.seq}, but its history goes up to ${row.last}`),
  );
}

/** Nothing is told from beyond a pool's sequence, and no place in the order is taken twice. */
async function misplaced(query: Query): Promise<readonly Violation[]> {
  const ahead = await query<{ id: string; event: string; seq: number }>(
    `select e.pool_id as id, e.event_id as event, e.seq::float8 as seq
       from events e join gates g on g.id = e.stream where e.seq > g.seq order by 1, 2`,
  );
  const twice = await query<{ stream: string; seq: number; events: string[] }>(
    `select stream, seq::float8 as seq, json_agg(event_id order by event_id) as events
       from events group by tenant_id, stream, seq, idx having count(*) > 1 order by 1, 2`,
  );
  return [
    ...ahead.map((row) =>
      violation(
        [row.id, row.event],
        `${row.event} claims place ${row.seq}, which ${row.id} has not reached`,
      ),
    ),
    ...twice.map((row) =>
      violation(
        [row.stream, ...row.events],
        `${row.events.join(" and ")} share one place in the order of ${row.stream}`,
      ),
    ),
  ];
}

export const events: Check = {
  invariant: "I6",
  title: "every change was told once, in order",
  async run(query) {
    const found: Violation[] = [];
    for (const look of [
      untold,
      untoldTerms,
      untoldMaintenance,
      toldTwice,
      untrue,
      contradicted,
      untoldPools,
      gaps,
      misplaced,
      holes,
    ]) {
      found.push(...(await look(query)));
    }
    return found;
  },
};
