/**
 * The reads of a gate. Each is one statement, so what it answers is one consistent snapshot, and each
 * answers one row with whole lists as JSON. Texts never vary, so every connection prepares them once.
 */

const HEAD = `g.id as "gateId", g.seq, g.last_at as "lastAt", g.config_seq as "configSeq",
  g.fleet_seq as "fleetSeq", g.reset_seq as "resetSeq", d.next_at as "nextDueAt",
  greatest(berth.now_ms(), g.last_at) as now`;

const FROM_GATE = `from gates g left join pool_due d on d.gate_id = g.id`;

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
        vfio_group, pci_address, parent_unit_id, healthy, removed
      from units where node_id = n.id and gone_at is null) u) as units,
    (select coalesce(json_agg(m order by m.start, m.id), '[]') from (
      select id, start, "end", state from maintenance
      where node_id = n.id and state in ('scheduled', 'active')) m) as maintenance
  from nodes n where n.gate_id = g.id and n.removed_at is null and ${where}) n`;

const reservations = (
  where: string,
): string => `select coalesce(json_agg(r order by r.id collate "C"), '[]') from (
  select id, pool_id, tenant_id, charged_tenant_id, project_id, state, binding, spot, start, "end",
    lease_seconds, lease_expires_at, ending_soon_at, topology, devices, resources, members, ended_at,
    end_reason, version, created_by, created_at, updated_at
  from reservations where pool_id = g.id and ${where}) r`;

const LIVE = `state in ('scheduled', 'active', 'preempting')`;

/** $1 gate */
export const HEAD_QUERY = `select ${HEAD} ${FROM_GATE} where g.id = $1`;

/** $1 gate */
export const LOAD_QUERY = `select ${HEAD}, (${CONFIG}) as config, (${nodes("true")}) as nodes,
  (${reservations(LIVE)}) as reservations ${FROM_GATE} where g.id = $1`;

/** $1 gate, $2 the seq that the reader has; a gate that was reset answers its head only. */
export const DELTA_QUERY = `select ${HEAD}, g.reset_seq > $2 as reset,
  case when g.config_seq > $2 and g.reset_seq <= $2 then (${CONFIG}) end as config,
  case when g.fleet_seq > $2 and g.reset_seq <= $2 then (${nodes("n.seq > $2")}) else '[]' end as nodes,
  case when g.reset_seq <= $2 then (${reservations("seq > $2")}) else '[]' end as reservations
  ${FROM_GATE} where g.id = $1`;

/** $1 gate */
export const STORED_QUERY = `select ${HEAD}, (${CONFIG}) as config, (${nodes("true")}) as nodes,
  (${reservations(LIVE)}) as reservations,
  (select coalesce(json_agg(r order by r.resource), '[]') from (
    select resource, total, allocatable, allocated, reserved, available, provisioning, unhealthy,
      maintenance, unreachable from rollups where pool_id = g.id) r) as rollup,
  (select coalesce(json_agg(q order by q.tenant_id collate "C", q.resource collate "C"), '[]') from (
    select tenant_id, resource, used from quotas where pool_id = g.id) q) as used
  ${FROM_GATE} where g.id = $1`;

/** $1 gate, $2 expected seq, $3 now, $4 batch */
export const APPLY_QUERY = `select berth_apply_v1($1, $2::int8, $3::int8, $4::jsonb) as outcome`;

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

/** $1 gates, as a JSON array */
export const DUE_AMONG_QUERY = `select d.gate_id as "gateId"
  from jsonb_array_elements_text($1::jsonb) g (id) join pool_due d on d.gate_id = g.id
  where d.next_at <= (select berth.now_ms())`;

export const NOW_QUERY = `select berth.now_ms() as now`;

export const GATES_QUERY = `select id as "gateId" from gates order by id`;
