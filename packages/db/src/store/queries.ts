/**
 * The reads of a gate. Each is one statement, so what it answers is one consistent snapshot, and each
 * answers one row with whole lists as JSON. Texts never vary, so every connection prepares them once.
 */

const HEAD = `g.id as "gateId", g.seq, g.last_at as "lastAt", g.config_seq as "configSeq",
  g.fleet_seq as "fleetSeq", g.reset_seq as "resetSeq", d.next_at as "nextDueAt",
  greatest(berth.now_ms(), g.last_at) as now, g.grace_to as "graceTo",
  case when c.outage_to > g.grace_to then (
    select json_agg(json_build_object('from', o.from_at, 'to', o.to_at) order by o.to_at)
    from outages o where o.to_at > g.grace_to) end as outages,
  coalesce((extract(epoch from clock_timestamp()) * 1000)::int8 - c.beat_at, 0) as "sinceBeatMs",
  c.held_since as "heldSince"`;

/** Its one row; without the limit the planner takes it for many, and everything beside it for dear. */
const CLOCK = `(select beat_at, outage_to, held_since from clock limit 1) c`;

const FROM_GATE = `from gates g left join pool_due d on d.gate_id = g.id left join ${CLOCK} on true`;

const CONFIG = `select row_to_json(c) from (
  select p.id, p.tenant_id, p.site_id, s.kind as site_kind, p.region, p.class, p.gpu_model, p.sharing,
    p.agent, p.policy, p.provider_account_id, p.version, p.archived_at, p.created_by, p.created_at,
    p.updated_at,
    (select coalesce(json_agg(o order by o.tenant_id collate "C"), '[]') from (
      select tenant_id, include_descendants, priority from offers where pool_id = p.id) o) as offers,
    (select coalesce(json_agg(q order by q.tenant_id collate "C", q.resource collate "C"), '[]') from (
      select tenant_id, resource, max from quotas where pool_id = p.id) q) as quotas
  from pools p join sites s on s.id = p.site_id where p.id = g.id) c`;

/** The domain's order of a node's units. */
const UNIT_ORDER = `array_position(array['gpu', 'gpu.mig', 'gpu.slot', 'nic.vf', 'disk'], u.class),
      u.index, u.id collate "C"`;

const nodes = (
  where: string,
): string => `select coalesce(json_agg(n order by n.id collate "C"), '[]') from (
  select n.id, n.site_id, n.name, n.address, n.state, n.labels, n.vcpu, n.memory_gib, n.hugepages_1gi,
    n.topology_gen, n.version, n.tenant_owned,
    (select s.tenant_id from sites s where s.id = n.site_id) as owner_id,
    (select coalesce(json_agg(u order by ${UNIT_ORDER}), '[]') from (
      select id, key, class, index, model, profile, placement, gpu_uuid, memory_gib, nvlink_domain,
        vfio_group, pci_address, parent_unit_id, healthy, removed, carrier, mig_profiles
      from units where node_id = n.id and gone_at is null) u) as units,
    (select coalesce(json_agg(m order by m.start, m.id), '[]') from (
      select id, start, "end", state from maintenance
      where node_id = n.id and state in ('scheduled', 'active')) m) as maintenance
  from nodes n where n.gate_id = g.id and n.removed_at is null and ${where}) n`;

const reservations = (
  where: string,
): string => `select coalesce(json_agg(r order by r.id collate "C"), '[]') from (
  select id, pool_id, tenant_id, charged_tenant_id, project_id, state, binding, gang, node_setup, spot,
    start, "end", started_at, preemption, degraded, pins, lease_seconds, lease_expires_at, ending_soon_at,
    topology, devices, resources, members, ended_at, end_reason, version, created_by, created_at,
    updated_at
  from reservations where pool_id = g.id and ${where}) r`;

const LIVE = `state in ('scheduled', 'active', 'preempting')`;

const unitReservations = (
  where: string,
): string => `select coalesce(json_agg(v order by v.id collate "C"), '[]') from (
  select id, node_id, status, allowed_org_ids, managing_org_ids, unit_ids, released_unit_ids, starts_at,
    ends_at, ended_at, topology_gen, reason, contract_ref, created_by, created_at, updated_at
  from unit_reservations where gate_id = g.id and ${where}) v`;

const waiters = (
  where: string,
): string => `select coalesce(json_agg(w order by w.id collate "C"), '[]') from (
  select id, pool_id, tenant_id, ancestors, priority, since, deadline, server_id, key, ask, done_at
  from waiters where pool_id = g.id and ${where}) w`;

const LIVE_ROWS = `(${reservations(LIVE)}) as reservations,
  (${unitReservations("ended_at is null")}) as unit_reservations,
  (${waiters("done_at is null")}) as waiters`;

/** $1 gate */
export const HEAD_QUERY = `select ${HEAD} ${FROM_GATE} where g.id = $1`;

/**
 * $1 gates, as a JSON array: of an array the planner guesses the length, and plans each call anew to guess better.
 * A lookup a gate, as what comes as JSON is taken for a hundred rows.
 */
export const HEADS_QUERY = `select ${HEAD} from jsonb_array_elements_text($1::text::jsonb) asked (id)
  cross join lateral (select * from gates where id = asked.id limit 1) g
  left join lateral (select next_at from pool_due where gate_id = g.id limit 1) d on true
  left join ${CLOCK} on true`;

/** $1 gate */
export const LOAD_QUERY = `select ${HEAD}, (${CONFIG}) as config, (${nodes("true")}) as nodes,
  ${LIVE_ROWS} ${FROM_GATE} where g.id = $1`;

/** $1 gate, $2 the seq that the reader has; a gate that was reset answers its head only. */
export const DELTA_QUERY = `select ${HEAD}, g.reset_seq > $2 as reset,
  case when g.config_seq > $2 and g.reset_seq <= $2 then (${CONFIG}) end as config,
  case when g.fleet_seq > $2 and g.reset_seq <= $2 then (${nodes("n.seq > $2")}) else '[]' end as nodes,
  case when g.reset_seq <= $2 then (${reservations("seq > $2")}) else '[]' end as reservations,
  case when g.reset_seq <= $2 then (${unitReservations("seq > $2")}) else '[]' end as unit_reservations,
  case when g.reset_seq <= $2 then (${waiters("seq > $2")}) else '[]' end as waiters
  ${FROM_GATE} where g.id = $1`;

/** $1 gate */
export const STORED_QUERY = `select ${HEAD}, (${CONFIG}) as config, (${nodes("true")}) as nodes,
  ${LIVE_ROWS},
  (select coalesce(json_agg(r order by r.resource), '[]') from (
    select resource, total, allocatable, allocated, reserved, available, provisioning, unhealthy,
      maintenance, unreachable from rollups where pool_id = g.id) r) as rollup,
  (select coalesce(json_agg(q order by q.tenant_id collate "C", q.resource collate "C"), '[]') from (
    select tenant_id, resource, used from quotas where pool_id = g.id) q) as used
  ${FROM_GATE} where g.id = $1`;

/** $1 gate, $2 expected seq, $3 now, $4 batch */
export const APPLY_QUERY = `select berth_apply_v1($1, $2::int8, $3::int8, $4::jsonb) as outcome`;

/** $1 writes of several gates, as `writes-together.ts` makes them */
export const APPLY_TOGETHER_QUERY = `select berth_apply_together_v1($1::jsonb) as outcomes`;

/** $1-$3 gate, expected seq, batch of a; $4-$6 of b; $7 now */
export const APPLY_PAIR_QUERY = `select berth_apply_pair_v1(
  $1, $2::int8, $3::jsonb, $4, $5::int8, $6::jsonb, $7::int8) as outcome`;

/** $1 gate, $2 batch id */
export const OUTCOME_QUERY = `select berth_outcome_v1($1, $2) as seq`;

/** For the transaction that takes the lock; whoever waits longer gives way to the others. */
export const LOCK_TIMEOUT_QUERY = `set local lock_timeout = '2s'`;

/** $1 gate */
export const LOCK_QUERY = `select from gates where id = $1 for no key update`;

/** $1 limit. The clock is read once, so that the index can be used. */
export const DUE_QUERY = `select d.gate_id as "gateId", c.now - d.next_at as "lateMs"
  from (select berth.now_ms() as now) c
  join pool_due d on d.next_at <= (select berth.now_ms())
  order by d.next_at limit $1`;

/** Whether something is due in the gate `g`, for reads of other rows that ask along with them. */
export const IS_DUE = `(
  exists (select 1 from pool_due d where d.gate_id = g.id and d.next_at <= (select berth.now_ms()))
  or g.grace_to < (select outage_to from clock limit 1))`;

/** $1 gates */
export const DUE_AMONG_QUERY = `select g.id as "gateId"
  from unnest($1::text[]) a (id) join gates g on g.id = a.id where ${IS_DUE}`;

/** $1 server */
export const BEAT_QUERY = `select berth_beat_v1($1) as beat`;

/** $1 the database's own clock at the server's last beat */
export const HOLD_QUERY = `select berth_hold_leases_v1($1::int8)`;

export const NOW_QUERY = `select berth.now_ms() as now`;

export const GATES_QUERY = `select id as "gateId" from gates order by id`;
