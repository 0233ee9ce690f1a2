-- What Drizzle cannot say: the exclusion constraint, the clock, and the gate, which is the only way to
-- change what belongs to a pool.
create extension if not exists btree_gist;
--> statement-breakpoint
create schema berth;
--> statement-breakpoint
-- The product's only clock, in milliseconds. Tests replace it.
create function berth.now_ms() returns bigint language sql volatile parallel safe as
$$ select (extract(epoch from clock_timestamp()) * 1000)::bigint $$;
--> statement-breakpoint
-- Two live bookings of one unit never overlap. The planner sees to that; this proves it.
alter table bookings add constraint bookings_no_overlap
  exclude using gist (unit_key with =, during with &&);
--> statement-breakpoint
-- Nor do two live terms of one unit: what a unit reservation may not do is decided here.
alter table unit_terms add constraint unit_terms_no_overlap
  exclude using gist (unit_key with =, during with &&);
--> statement-breakpoint
-- Small rows that every batch rewrites: room on the page keeps the new version beside the old one.
alter table gates set (fillfactor = 50);
--> statement-breakpoint
alter table rollups set (fillfactor = 50);
--> statement-breakpoint
alter table quotas set (fillfactor = 50);
--> statement-breakpoint
alter table clock set (fillfactor = 50);
--> statement-breakpoint
insert into clock default values;
--> statement-breakpoint
-- The mark of a transaction that holds a gate is a setting local to it that names its id, so it cannot be
-- left behind in a session.
create function berth.guard() returns trigger language plpgsql as $$
begin
  if current_setting('berth.gate', true) is distinct from pg_current_xact_id()::text then
    raise exception 'table % is changed only through the gate', tg_table_name
      using errcode = 'BG001', hint = 'Call berth_apply_v1: other servers plan on what it numbered.';
  end if;
  return null;
end $$;
--> statement-breakpoint
do $$
declare
  v_table text;
begin
  foreach v_table in array array[
    'gates', 'gate_batches', 'pool_due', 'pools', 'offers', 'quotas', 'pool_authz', 'nodes', 'units',
    'maintenance', 'reservations', 'bookings', 'reservation_keys', 'rollups', 'unit_reservations',
    'unit_terms', 'waiters'
  ] loop
    execute format(
      'create trigger guard before insert or update or delete or truncate on %I
         for each statement execute function berth.guard()', v_table);
  end loop;
end $$;
--> statement-breakpoint
-- Stores the keys, in order, so that two pools that meet over the same keys wait instead of deadlocking.
-- When one exists already nothing is kept and the existing ones are returned.
create function berth.claim_keys_v1(p_gate text, p_now bigint, p_keys jsonb) returns jsonb
language plpgsql as $$
declare
  v_stored bigint;
  v_taken jsonb;
begin
  insert into reservation_keys
    (tenant_id, principal, key, request_hash, reservation_id, pool_id, created_at)
  select k.tenant_id, k.principal, k.key, k.request_hash, k.reservation_id, p_gate, p_now
  from jsonb_to_recordset(p_keys)
    k (tenant_id text, principal text, key text, request_hash text, reservation_id text)
  order by k.tenant_id, k.principal, k.key
  on conflict do nothing;
  get diagnostics v_stored = row_count;
  if v_stored = jsonb_array_length(p_keys) then
    return null;
  end if;
  with mine as (
    delete from reservation_keys r
    using jsonb_to_recordset(p_keys) k (tenant_id text, principal text, key text)
    where (r.tenant_id, r.principal, r.key) = (k.tenant_id, k.principal, k.key)
      and r.xmin = pg_current_xact_id()::xid
    returning r.tenant_id, r.principal, r.key
  )
  select jsonb_agg(jsonb_build_object(
    'tenantId', r.tenant_id, 'principal', r.principal, 'key', r.key,
    'requestHash', r.request_hash, 'reservationId', r.reservation_id))
  into v_taken
  from reservation_keys r
  join jsonb_to_recordset(p_keys) k (tenant_id text, principal text, key text)
    on (r.tenant_id, r.principal, r.key) = (k.tenant_id, k.principal, k.key)
  where not exists (
    select from mine m where (m.tenant_id, m.principal, m.key) = (r.tenant_id, r.principal, r.key));
  if v_taken is null then
    raise exception 'a batch claims one key twice' using errcode = 'BG002';
  end if;
  return v_taken;
end $$;
--> statement-breakpoint
-- The pool's row, its offers, its quota rows, and what policies may test about it.
create function berth.write_config_v1(p_gate text, p_now bigint, p_config jsonb) returns void
language plpgsql as $$
begin
  -- Other images: the site's agents have something to fetch.
  update sites s set desired_gen = s.desired_gen + 1
  from pools p
  where p.id = p_gate and s.id = p.site_id
    and coalesce(p.policy -> 'prewarmImages', '[]') <> coalesce(p_config -> 'policy' -> 'prewarmImages', '[]');

  insert into pools (
    id, tenant_id, site_id, region, class, gpu_model, sharing, agent, policy, kubernetes_token,
    provider_account_id, version, archived_at, created_by, idempotency_key, created_at, updated_at)
  select p_gate, c.tenant_id, c.site_id, c.region, c.class, c.gpu_model, c.sharing, c.agent, c.policy,
    decode(c.kubernetes_token, 'base64'), c.provider_account_id, c.version, c.archived_at, c.created_by,
    c.idempotency_key, c.created_at, c.updated_at
  from jsonb_to_record(p_config) c (
    tenant_id text, site_id text, region text, class text, gpu_model text, sharing text, agent text,
    policy jsonb, kubernetes_token text, provider_account_id text, version bigint, archived_at bigint,
    created_by text, idempotency_key text, created_at bigint, updated_at bigint)
  on conflict (id) do update set
    region = excluded.region, gpu_model = excluded.gpu_model, agent = excluded.agent,
    policy = excluded.policy, version = excluded.version, archived_at = excluded.archived_at,
    updated_at = excluded.updated_at,
    kubernetes_token = case when p_config ? 'kubernetes_token'
      then excluded.kubernetes_token else pools.kubernetes_token end;

  delete from offers o where o.pool_id = p_gate and not exists (
    select from jsonb_to_recordset(p_config -> 'offers') n (tenant_id text)
    where n.tenant_id = o.tenant_id);
  insert into offers (pool_id, tenant_id, include_descendants, priority, created_at)
  select p_gate, n.tenant_id, n.include_descendants, n.priority, p_now
  from jsonb_to_recordset(p_config -> 'offers')
    n (tenant_id text, include_descendants boolean, priority integer)
  on conflict (pool_id, tenant_id) do update set
    include_descendants = excluded.include_descendants, priority = excluded.priority;

  delete from quotas q where q.pool_id = p_gate and not exists (
    select from jsonb_to_recordset(p_config -> 'quotas') n (tenant_id text, resource text)
    where n.tenant_id = q.tenant_id and n.resource = q.resource);
  insert into quotas (pool_id, tenant_id, resource, max, used_at)
  select p_gate, n.tenant_id, n.resource, n.max, p_now
  from jsonb_to_recordset(p_config -> 'quotas') n (tenant_id text, resource text, max bigint)
  on conflict (pool_id, tenant_id, resource) do update set max = excluded.max;

  delete from pool_authz where pool_id = p_gate;
  insert into pool_authz
    (pool_id, tenant_id, gpu_model, class, sharing, region, owned, version)
  select p.id, t.tenant_id, p.gpu_model, p.class, p.sharing, p.region, t.tenant_id = p.tenant_id, p.version
  from pools p
  cross join lateral (
    select p.tenant_id
    union
    select o.tenant_id from offers o where o.pool_id = p.id and p.archived_at is null
  ) t
  where p.id = p_gate;
end $$;
--> statement-breakpoint
-- Nodes that came or changed: the node, its units (one that left keeps its row and its key), its windows.
create function berth.write_nodes_v1(p_gate text, p_seq bigint, p_now bigint, p_batch jsonb) returns void
language plpgsql as $$
declare
  v_written bigint;
begin
  insert into nodes (
    id, site_id, gate_id, pool_id, name, address, state, labels, vcpu, memory_gib, hugepages_1gi,
    topology_gen, version, tenant_owned, removed_at, seq)
  select n.id, n.site_id, p_gate, case when n.id <> p_gate then p_gate end, n.name, n.address, n.state,
    n.labels, n.vcpu, n.memory_gib, n.hugepages_1gi, n.topology_gen, n.version, n.tenant_owned, null, p_seq
  from jsonb_to_recordset(p_batch -> 'nodes') n (
    id text, site_id text, name text, address text, state text, labels jsonb, vcpu integer,
    memory_gib integer, hugepages_1gi integer, topology_gen bigint, version bigint, tenant_owned boolean)
  on conflict (id) do update set
    gate_id = excluded.gate_id, pool_id = excluded.pool_id, name = excluded.name,
    address = excluded.address, state = excluded.state, labels = excluded.labels, vcpu = excluded.vcpu,
    memory_gib = excluded.memory_gib, hugepages_1gi = excluded.hugepages_1gi,
    topology_gen = excluded.topology_gen, version = excluded.version,
    tenant_owned = excluded.tenant_owned, removed_at = null, seq = excluded.seq
  where nodes.gate_id = p_gate or nodes.removed_at is not null;
  get diagnostics v_written = row_count;
  if v_written <> jsonb_array_length(p_batch -> 'nodes') then
    raise exception 'a node belongs to another gate than %', p_gate using errcode = 'BG002';
  end if;

  update units u set gone_at = p_now
  where u.gone_at is null
    and u.node_id in (
      select n.id from jsonb_to_recordset(p_batch -> 'nodes') n (id text))
    and not exists (
      select from jsonb_to_recordset(p_batch -> 'units') n (id text) where n.id = u.id);
  insert into units (
    id, node_id, gate_id, class, index, model, profile, placement, gpu_uuid, pci_address, memory_gib,
    nvlink_domain, vfio_group, parent_unit_id, healthy, removed, carrier, mig_profiles)
  select n.id, n.node_id, p_gate, n.class, n.index, n.model, n.profile, n.placement, n.gpu_uuid,
    n.pci_address, n.memory_gib, n.nvlink_domain, n.vfio_group, n.parent_unit_id, n.healthy, n.removed,
    n.carrier, n.mig_profiles
  from jsonb_to_recordset(p_batch -> 'units') n (
    id text, node_id text, class text, index integer, model text, profile text, placement integer,
    gpu_uuid text, pci_address text, memory_gib integer, nvlink_domain text, vfio_group text,
    parent_unit_id text, healthy boolean, removed boolean, carrier boolean, mig_profiles jsonb)
  order by n.node_id, n.class, n.index, n.id
  on conflict (id) do update set
    gate_id = excluded.gate_id, class = excluded.class, index = excluded.index, model = excluded.model,
    profile = excluded.profile, placement = excluded.placement, gpu_uuid = excluded.gpu_uuid,
    pci_address = excluded.pci_address, memory_gib = excluded.memory_gib,
    nvlink_domain = excluded.nvlink_domain, vfio_group = excluded.vfio_group,
    parent_unit_id = excluded.parent_unit_id, healthy = excluded.healthy, removed = excluded.removed,
    carrier = excluded.carrier, mig_profiles = excluded.mig_profiles, gone_at = null
  where units.node_id = excluded.node_id;
  get diagnostics v_written = row_count;
  if v_written <> jsonb_array_length(p_batch -> 'units') then
    raise exception 'a unit belongs to another node' using errcode = 'BG002';
  end if;

  perform berth.close_maintenance_v1(p_now, p_batch);
  insert into maintenance (id, node_id, gate_id, start, "end", state, created_at)
  select n.id, n.node_id, p_gate, n.start, n."end", n.state, p_now
  from jsonb_to_recordset(p_batch -> 'maintenance')
    n (id text, node_id text, start bigint, "end" bigint, state text)
  on conflict (id) do update set
    gate_id = excluded.gate_id, start = excluded.start, "end" = excluded."end", state = excluded.state;
end $$;
--> statement-breakpoint
-- Windows that their node no longer has: over, or called off.
create function berth.close_maintenance_v1(p_now bigint, p_batch jsonb) returns void
language sql as $$
  update maintenance m set state = case when m."end" <= p_now then 'ended' else 'cancelled' end
  where m.state in ('scheduled', 'active')
    and m.node_id in (
      select n.id from jsonb_to_recordset(p_batch -> 'nodes') n (id text)
      union all
      select jsonb_array_elements_text(p_batch -> 'removed'))
    and not exists (
      select from jsonb_to_recordset(p_batch -> 'maintenance') n (id text) where n.id = m.id)
$$;
--> statement-breakpoint
-- Nodes that left this gate; one that moves is written again by its new gate in the same transaction.
create function berth.remove_nodes_v1(p_gate text, p_seq bigint, p_now bigint, p_batch jsonb) returns void
language plpgsql as $$
begin
  update nodes set removed_at = p_now, seq = p_seq
  where gate_id = p_gate and id in (select jsonb_array_elements_text(p_batch -> 'removed'));
  update units set gone_at = p_now
  where gone_at is null and node_id in (select jsonb_array_elements_text(p_batch -> 'removed'));
  perform berth.close_maintenance_v1(p_now, p_batch);
end $$;
--> statement-breakpoint
-- Reservations and their bookings: what frees units first, what takes them last.
create function berth.write_reservations_v1(p_gate text, p_seq bigint, p_batch jsonb) returns void
language plpgsql as $$
declare
  v_written bigint;
begin
  if p_batch ? 'drops' then
    delete from bookings b using jsonb_array_elements_text(p_batch -> 'drops') d (id)
    where b.reservation_id = d.id;
  end if;
  if p_batch ? 'cuts' then
    update bookings b set during = int8range(lower(b.during), c."end")
    from jsonb_to_recordset(p_batch -> 'cuts') c (id text, "end" bigint)
    where b.reservation_id = c.id;
  end if;
  if p_batch ? 'extends' then
    update bookings b set during = int8range(lower(b.during), c."end")
    from jsonb_to_recordset(p_batch -> 'extends') c (id text, "end" bigint)
    where b.reservation_id = c.id;
  end if;
  if p_batch ? 'changed' then
    update reservations r set
      charged_tenant_id = n.charged_tenant_id, state = n.state, spot = n.spot, start = n.start,
      "end" = n."end", lease_seconds = n.lease_seconds, lease_expires_at = n.lease_expires_at,
      ending_soon_at = n.ending_soon_at, started_at = n.started_at, preemption = n.preemption,
      degraded = n.degraded, pins = n.pins, members = n.members, ended_at = n.ended_at,
      end_reason = n.end_reason, version = n.version, updated_at = n.updated_at, seq = p_seq
    from jsonb_to_recordset(p_batch -> 'changed') n (
      id text, charged_tenant_id text, state text, spot boolean, start bigint, "end" bigint,
      lease_seconds integer, lease_expires_at bigint, ending_soon_at bigint, started_at bigint,
      preemption jsonb, degraded jsonb, pins jsonb, members jsonb, ended_at bigint, end_reason text,
      version bigint, updated_at bigint)
    where r.id = n.id and r.pool_id = p_gate;
    get diagnostics v_written = row_count;
    if v_written <> jsonb_array_length(p_batch -> 'changed') then
      raise exception 'a reservation that changed is not in %', p_gate using errcode = 'BG002';
    end if;
  end if;
  if p_batch ? 'created' then
    insert into reservations (
      id, pool_id, tenant_id, charged_tenant_id, project_id, state, binding, gang, node_setup, spot,
      start, "end", started_at, preemption, degraded, pins, lease_seconds, lease_expires_at,
      ending_soon_at, topology, devices, resources, members, ended_at, end_reason, version, created_by,
      created_at, updated_at, seq)
    select n.id, p_gate, n.tenant_id, n.charged_tenant_id, n.project_id, n.state, n.binding, n.gang,
      n.node_setup, n.spot, n.start, n."end", n.started_at, n.preemption, n.degraded, n.pins,
      n.lease_seconds, n.lease_expires_at, n.ending_soon_at, n.topology, n.devices, n.resources,
      n.members, n.ended_at, n.end_reason, n.version, n.created_by, n.created_at, n.updated_at, p_seq
    from jsonb_to_recordset(p_batch -> 'created') n (
      id text, tenant_id text, charged_tenant_id text, project_id text, state text, binding text,
      gang jsonb, node_setup jsonb, spot boolean, start bigint, "end" bigint, started_at bigint,
      preemption jsonb, degraded jsonb, pins jsonb, lease_seconds integer, lease_expires_at bigint,
      ending_soon_at bigint, topology text, devices jsonb, resources jsonb, members jsonb,
      ended_at bigint, end_reason text, version bigint, created_by text, created_at bigint,
      updated_at bigint);
  end if;
  if p_batch ? 'bookings' then
    -- A lookup a row, never a join that may be planned as a scan of the fleet. A unit that is not this
    -- gate's, or carries those that are booked, has no key here, and a booking cannot be without one.
    insert into bookings (pool_id, reservation_id, unit_key, during)
    select p_gate, n.id,
      (select u.key from units u
        where u.id = n.unit_id and u.gate_id = p_gate and u.gone_at is null and not u.carrier),
      int8range(n.start, n."end")
    from jsonb_to_recordset(p_batch -> 'bookings') n (id text, unit_id text, start bigint, "end" bigint);
  end if;
end $$;
--> statement-breakpoint
-- Unit reservations and their terms. One that moves with its node arrives here as a new one does, after
-- its node; the gate that it leaves writes nothing.
create function berth.write_unit_reservations_v1(p_gate text, p_seq bigint, p_batch jsonb) returns void
language plpgsql as $$
declare
  v_written bigint;
begin
  delete from unit_terms t using jsonb_array_elements_text(p_batch -> 'termDrops') d (id)
  where t.unit_reservation_id = d.id;
  insert into unit_reservations (
    id, gate_id, node_id, status, allowed_org_ids, managing_org_ids, unit_ids, released_unit_ids,
    starts_at, ends_at, ended_at, topology_gen, reason, contract_ref, created_by, created_at, updated_at,
    seq)
  select n.id, p_gate, n.node_id, n.status, n.allowed_org_ids, n.managing_org_ids, n.unit_ids,
    n.released_unit_ids, n.starts_at, n.ends_at, n.ended_at, n.topology_gen, n.reason, n.contract_ref,
    n.created_by, n.created_at, n.updated_at, p_seq
  from jsonb_to_recordset(p_batch -> 'unitReservations') n (
    id text, node_id text, status text, allowed_org_ids jsonb, managing_org_ids jsonb, unit_ids jsonb,
    released_unit_ids jsonb, starts_at bigint, ends_at bigint, ended_at bigint, topology_gen bigint,
    reason text, contract_ref text, created_by text, created_at bigint, updated_at bigint)
  where exists (select from nodes o where o.id = n.node_id and o.gate_id = p_gate)
  on conflict (id) do update set
    gate_id = excluded.gate_id, status = excluded.status, allowed_org_ids = excluded.allowed_org_ids,
    managing_org_ids = excluded.managing_org_ids, unit_ids = excluded.unit_ids,
    released_unit_ids = excluded.released_unit_ids, starts_at = excluded.starts_at,
    ends_at = excluded.ends_at, ended_at = excluded.ended_at, topology_gen = excluded.topology_gen,
    reason = excluded.reason, contract_ref = excluded.contract_ref, updated_at = excluded.updated_at,
    seq = excluded.seq
  where unit_reservations.node_id = excluded.node_id;
  get diagnostics v_written = row_count;
  if v_written <> jsonb_array_length(p_batch -> 'unitReservations') then
    raise exception 'a unit reservation is of a node that is not in %', p_gate using errcode = 'BG002';
  end if;
  insert into unit_terms (unit_reservation_id, unit_key, during)
  select n.id,
    (select u.key from units u
      where u.id = n.unit_id and u.gate_id = p_gate and u.gone_at is null and not u.carrier),
    int8range(n.start, n."end")
  from jsonb_to_recordset(p_batch -> 'terms') n (id text, unit_id text, start bigint, "end" bigint);
end $$;
--> statement-breakpoint
-- Those who wait for room. One that is done stays for an hour: others learn of it by its number.
create function berth.write_waiters_v1(p_gate text, p_seq bigint, p_now bigint, p_batch jsonb) returns void
language plpgsql as $$
begin
  update waiters w set done_at = p_now, seq = p_seq
  from jsonb_array_elements_text(p_batch -> 'waitersDone') d (id)
  where w.id = d.id and w.pool_id = p_gate;
  insert into waiters (
    id, pool_id, tenant_id, ancestors, priority, since, deadline, server_id, key, ask, done_at, seq)
  select n.id, p_gate, n.tenant_id, n.ancestors, n.priority, n.since, n.deadline, n.server_id, n.key,
    n.ask, null, p_seq
  from jsonb_to_recordset(p_batch -> 'waiters') n (
    id text, tenant_id text, ancestors jsonb, priority integer, since bigint, deadline bigint,
    server_id text, key jsonb, ask jsonb)
  on conflict (id) do update set
    priority = excluded.priority, deadline = excluded.deadline, server_id = excluded.server_id,
    seq = excluded.seq
  where waiters.pool_id = p_gate;
end $$;
--> statement-breakpoint
-- What is counted and told: capacity rows, quota use, events, when something is next due.
create function berth.write_counts_v1(p_gate text, p_seq bigint, p_now bigint, p_batch jsonb) returns void
language plpgsql as $$
begin
  if p_batch ? 'rollup' then
    insert into rollups (
      pool_id, resource, total, allocatable, allocated, reserved, available, provisioning, unhealthy,
      maintenance, unreachable, updated_at)
    select p_gate, n.resource, n.total, n.allocatable, n.allocated, n.reserved, n.available,
      n.provisioning, n.unhealthy, n.maintenance, n.unreachable, p_now
    from jsonb_to_recordset(p_batch -> 'rollup') n (
      resource text, total bigint, allocatable bigint, allocated bigint, reserved bigint,
      available bigint, provisioning bigint, unhealthy bigint, maintenance bigint, unreachable bigint)
    on conflict (pool_id, resource) do update set
      total = excluded.total, allocatable = excluded.allocatable, allocated = excluded.allocated,
      reserved = excluded.reserved, available = excluded.available,
      provisioning = excluded.provisioning, unhealthy = excluded.unhealthy,
      maintenance = excluded.maintenance, unreachable = excluded.unreachable,
      updated_at = excluded.updated_at;
  end if;
  -- A resource that no node has any more has no row; the batch that changes the nodes, or that corrects, drops it.
  if p_batch ? 'nodes' or p_batch ? 'removed' or p_batch ? 'config' then
    delete from rollups r where r.pool_id = p_gate and not exists (
      select from jsonb_to_recordset(coalesce(p_batch -> 'rollup', '[]')) n (resource text)
      where n.resource = r.resource);
  end if;
  if p_batch ? 'quotaUsed' then
    update quotas q set used = n.used, used_at = p_now
    from jsonb_to_recordset(p_batch -> 'quotaUsed') n (tenant_id text, resource text, used bigint)
    where q.pool_id = p_gate and q.tenant_id = n.tenant_id and q.resource = n.resource;
  end if;
  if p_batch ? 'events' then
    perform berth.write_events_v1(p_gate, p_seq, p_batch -> 'events');
  end if;
  insert into pool_due (gate_id, next_at) values (p_gate, (p_batch ->> 'nextDueAt')::bigint)
  on conflict (gate_id) do update set next_at = excluded.next_at
  where pool_due.next_at is distinct from excluded.next_at;
end $$;
--> statement-breakpoint
-- Not in SQL: before PostgreSQL 18 such a function is planned anew by every call.
create function berth.write_events_v1(p_stream text, p_seq bigint, p_events jsonb) returns void
language plpgsql as $$
declare
  v_pool text := case when p_stream like 'pool\_%' then p_stream end;
begin
  insert into events
    (tenant_id, event_id, stream, pool_id, reservation_id, seq, idx, type, at, data)
  select n.tenant_id, n.event_id, p_stream, v_pool, n.reservation_id, p_seq, n.idx, n.type, n.at, n.data
  from jsonb_to_recordset(p_events) n (
    tenant_id text, event_id text, reservation_id text, idx integer, type text, at bigint, data jsonb);
end $$;
--> statement-breakpoint
-- Takes the gate's lock and says why the batch must not be written; null: it may be. A gate that the batch
-- makes is made here. Whoever waited for the lock sees here what the one before it wrote.
create function berth.enter_v1(p_gate text, p_expected bigint, p_now bigint, p_batch jsonb) returns jsonb
language plpgsql as $$
declare
  v_seq bigint;
  v_last bigint;
  v_clock bigint;
  v_fenced jsonb;
  v_mark text;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the gate needs READ COMMITTED: an older snapshot would not show what its lock protects'
      using errcode = '25000';
  end if;
  select seq, last_at into v_seq, v_last from gates where id = p_gate for no key update;
  if p_batch ->> 'create' = 'pool' and exists (select from pools where id = p_gate) then
    return jsonb_build_object('ok', false, 'kind', 'exists');
  end if;
  if v_seq is null and not p_batch ? 'create' then
    raise exception 'there is no gate %', p_gate using errcode = 'BG003';
  end if;
  if coalesce(v_seq, 0) <> p_expected then
    return jsonb_build_object('ok', false, 'kind', 'stale', 'seq', coalesce(v_seq, 0));
  end if;
  v_clock := greatest(berth.now_ms(), v_last);
  if p_now < v_clock - 1000 or p_now < v_last then
    return jsonb_build_object('ok', false, 'kind', 'behind', 'now', v_clock);
  end if;
  if (p_batch ? 'named' or p_batch ? 'gpus') and berth.elsewhere_v1(p_gate, p_batch) then
    return jsonb_build_object('ok', false, 'kind', 'elsewhere');
  end if;
  if p_batch ? 'terms' then
    v_fenced := berth.fenced_v1(p_batch);
    if v_fenced is not null then
      return jsonb_build_object('ok', false, 'kind', 'fenced', 'unitIds', v_fenced);
    end if;
  end if;
  v_mark := set_config('berth.gate', pg_current_xact_id()::text, true);
  if v_seq is null then
    insert into gates (id, seq, last_at, config_seq, fleet_seq, reset_seq)
    values (p_gate, 0, 0, 0, 0, 0) on conflict do nothing;
    if not found then
      v_mark := set_config('berth.gate', '', true);
      select seq into v_seq from gates where id = p_gate;
      return jsonb_build_object('ok', false, 'kind', 'stale', 'seq', v_seq);
    end if;
  end if;
  return null;
end $$;
--> statement-breakpoint
-- Whether what is new in this gate is at the site already: the node in another gate, its name or one of
-- its GPUs on another node; or the node was removed at a version that this one does not follow. The
-- site's row is locked, so that two servers cannot take one thing in at once. Within the gate the planner
-- sees to it.
create function berth.elsewhere_v1(p_gate text, p_batch jsonb) returns boolean
language plpgsql set enable_seqscan = off as $$
begin
  perform from sites
  where id in (
    select n.site_id from jsonb_to_recordset(p_batch -> 'named') n (site_id text)
    union all
    select g.site_id from jsonb_to_recordset(p_batch -> 'gpus') g (site_id text))
  order by id for no key update;
  return exists (
    select from jsonb_to_recordset(p_batch -> 'named')
      n (id text, site_id text, name text, version bigint)
    where (
      select o.removed_at is null and o.gate_id <> p_gate
        or o.removed_at is not null and o.version >= n.version
      from nodes o where o.id = n.id)
    or (
      select true from nodes o
      where o.site_id = n.site_id and o.name = n.name and o.removed_at is null and o.id <> n.id
      limit 1)
  ) or exists (
    select from jsonb_to_recordset(p_batch -> 'gpus') g (node_id text, site_id text, uuid text)
    where (
      -- From the GPU to its node: as a join it is planned from the site's nodes, all of them for each GPU.
      select true from units u
      where u.gpu_uuid = g.uuid and u.gone_at is null and not u.removed
        and (
          select o.site_id = g.site_id and o.removed_at is null
            and o.gate_id <> p_gate and o.id <> g.node_id
            and not coalesce(p_batch -> 'givers', '[]') ? o.id
          from nodes o where o.id = u.node_id)
      limit 1));
end $$;
--> statement-breakpoint
-- The units that another live unit reservation has in a term of this batch; null: none.
create function berth.fenced_v1(p_batch jsonb) returns jsonb
language plpgsql as $$
declare
  v_units jsonb;
begin
  select jsonb_agg(distinct n.unit_id order by n.unit_id) into v_units
  from jsonb_to_recordset(p_batch -> 'terms') n (unit_id text, start bigint, "end" bigint)
  where exists (
    select from unit_terms t
    where t.unit_key = (select u.key from units u where u.id = n.unit_id)
      and t.during && int8range(n.start, n."end")
      and not coalesce(p_batch -> 'termDrops', '[]') ? t.unit_reservation_id);
  return v_units;
end $$;
--> statement-breakpoint
create function berth.write_v1(p_gate text, p_seq bigint, p_now bigint, p_batch jsonb) returns void
language plpgsql as $$
declare
  v_fleet boolean := p_batch ? 'nodes' or p_batch ? 'removed';
  v_forgotten bigint;
begin
  if p_batch ? 'config' then
    perform berth.write_config_v1(p_gate, p_now, p_batch -> 'config');
  end if;
  if p_batch ? 'removed' then
    perform berth.remove_nodes_v1(p_gate, p_seq, p_now, p_batch);
  end if;
  if p_batch ? 'nodes' then
    perform berth.write_nodes_v1(p_gate, p_seq, p_now, p_batch);
  end if;
  if p_batch ? 'unitReservations' then
    perform berth.write_unit_reservations_v1(p_gate, p_seq, p_batch);
  end if;
  if p_batch ? 'waiters' or p_batch ? 'waitersDone' then
    perform berth.write_waiters_v1(p_gate, p_seq, p_now, p_batch);
  end if;
  perform berth.write_reservations_v1(p_gate, p_seq, p_batch);
  perform berth.write_counts_v1(p_gate, p_seq, p_now, p_batch);
  insert into gate_batches (gate_id, seq, batch_id, at)
  values (p_gate, p_seq, p_batch ->> 'id', p_now);
  if p_seq % 256 = 0 then
    delete from gate_batches where gate_id = p_gate and at < p_now - 3600000;
    with forgotten as (
      delete from waiters where pool_id = p_gate and done_at < p_now - 3600000 returning seq
    )
    select max(seq) into v_forgotten from forgotten;
  end if;
  update gates set
    seq = p_seq,
    last_at = p_now,
    config_seq = case when p_batch ? 'config' then p_seq else config_seq end,
    fleet_seq = case when v_fleet then p_seq else fleet_seq end,
    -- Whoever has not seen a forgotten waiter end would keep it for ever.
    reset_seq = case when p_batch ? 'removed' then p_seq else greatest(reset_seq, v_forgotten) end,
    grace_to = greatest(grace_to, (p_batch ->> 'graceTo')::bigint)
  where id = p_gate;
end $$;
--> statement-breakpoint
-- The gate: all of the batch, or nothing and why. One statement, so no lock is held while a client thinks.
create function berth_apply_v1(p_gate text, p_expected bigint, p_now bigint, p_batch jsonb) returns jsonb
language plpgsql as $$
declare
  v_refusal jsonb;
  v_taken jsonb;
  v_mark text;
begin
  v_refusal := berth.enter_v1(p_gate, p_expected, p_now, p_batch);
  if v_refusal is not null then
    return v_refusal;
  end if;
  if p_batch ? 'keys' then
    v_taken := berth.claim_keys_v1(p_gate, p_now, p_batch -> 'keys');
    if v_taken is not null then
      v_mark := set_config('berth.gate', '', true);
      return jsonb_build_object('ok', false, 'kind', 'keys', 'keys', v_taken);
    end if;
  end if;
  perform berth.write_v1(p_gate, p_expected + 1, p_now, p_batch);
  v_mark := set_config('berth.gate', '', true);
  return jsonb_build_object('ok', true, 'seq', p_expected + 1);
end $$;
--> statement-breakpoint
-- Two gates in one write, for a node that moves from a to b. Locked in the order of their ids. Its name and
-- its GPUs are at the site already, as its own.
create function berth_apply_pair_v1(
  p_a text, p_a_expected bigint, p_a_batch jsonb,
  p_b text, p_b_expected bigint, p_b_batch jsonb, p_now bigint
) returns jsonb
language plpgsql as $$
declare
  v_refusal jsonb;
  v_mark text;
begin
  if p_a_batch ? 'keys' or p_b_batch ? 'keys' then
    raise exception 'a write of two gates claims no keys' using errcode = 'BG002';
  end if;
  perform from gates where id in (p_a, p_b) order by id for no key update;
  v_refusal := berth.enter_v1(p_a, p_a_expected, p_now, p_a_batch);
  if v_refusal is null then
    v_refusal := berth.enter_v1(p_b, p_b_expected, p_now, p_b_batch - 'named' - 'gpus');
  end if;
  if v_refusal is null then
    perform berth.write_v1(p_a, p_a_expected + 1, p_now, p_a_batch);
    perform berth.write_v1(p_b, p_b_expected + 1, p_now, p_b_batch);
  end if;
  v_mark := set_config('berth.gate', '', true);
  return coalesce(v_refusal, jsonb_build_object('ok', true, 'seq', p_b_expected + 1));
end $$;
--> statement-breakpoint
-- The gate's number under which a batch was written; null: it was not, and never will be, because the
-- number that it expected is used up here. The lock waits for a write whose client is gone.
create function berth_outcome_v1(p_gate text, p_batch_id text) returns bigint
language plpgsql as $$
declare
  v_seq bigint;
  v_mark text;
begin
  v_mark := set_config('berth.gate', pg_current_xact_id()::text, true);
  -- A gate that the lost write may still be making: this waits for it, or makes it first.
  insert into gates (id, seq, last_at, config_seq, fleet_seq, reset_seq)
  values (p_gate, 0, 0, 0, 0, 0) on conflict do nothing;
  perform from gates where id = p_gate for no key update;
  select seq into v_seq from gate_batches where batch_id = p_batch_id;
  if v_seq is null then
    update gates set seq = seq + 1 where id = p_gate;
  end if;
  v_mark := set_config('berth.gate', '', true);
  return v_seq;
end $$;
--> statement-breakpoint
-- Events that belong to no gate: a tenant's (stream `tenant:<id>`) or the fleet's. Called inside the
-- transaction that does what they tell of.
create function berth_emit_v1(p_stream text, p_events jsonb) returns bigint
language plpgsql as $$
declare
  v_seq bigint;
begin
  insert into streams (id, seq) values (p_stream, 1)
  on conflict (id) do update set seq = streams.seq + 1
  returning seq into v_seq;
  perform berth.write_events_v1(p_stream, v_seq, p_events);
  return v_seq;
end $$;
--> statement-breakpoint
-- Called by every server each second. An outage, in which nobody was there, is told by the database's own
-- clock and never by the product's; a leap of that clock looks like one, and is treated as one at first.
create function berth_beat_v1(p_server text) returns jsonb
language plpgsql as $$
declare
  v_clock clock;
  v_wall bigint;
  v_now bigint;
  v_outage boolean;
begin
  select * into v_clock from clock for no key update;
  -- Read under the lock, so that beats come in the order of their times.
  v_wall := (extract(epoch from clock_timestamp()) * 1000)::bigint;
  v_now := berth.now_ms();
  v_outage := coalesce(v_wall - v_clock.beat_at > 3000 and v_now > v_clock.beat_now, false);
  update clock set
    beat_at = v_wall, beat_now = v_now,
    outage_to = case when v_outage
      then berth.record_outage_v1(v_clock.beat_now, v_now, v_clock.outage_to) else outage_to end;
  insert into servers (id, beat_at) values (p_server, v_wall)
  on conflict (id) do update set beat_at = excluded.beat_at;
  delete from servers where beat_at < v_wall - 3600000;
  return jsonb_build_object(
    'wall', v_wall, 'heldSince', v_clock.held_since,
    'outageMs', case when v_outage then v_now - v_clock.beat_now end,
    'servers', (select jsonb_agg(s.id) from servers s where s.beat_at > v_wall - 5000));
end $$;
--> statement-breakpoint
-- Stores the outage and returns its end. One that follows within half a minute of another is a part of it:
-- every lease that the first saved the second saves, too, because the first gave it at least that long.
create function berth.record_outage_v1(p_from bigint, p_to bigint, p_last bigint) returns bigint
language plpgsql as $$
declare
  v_to bigint := greatest(p_to, p_last + 1);
begin
  update outages set to_at = v_to, from_at = least(from_at, p_from)
  where to_at = p_last and p_from < p_last + 30000;
  if not found then
    insert into outages (from_at, to_at) values (p_from, v_to);
  end if;
  return v_to;
end $$;
--> statement-breakpoint
-- The clock leapt forward while the server that says so was there: from now on no lease lapses. Does
-- nothing when a leap since that server's beat at p_since (by the leaping clock) was accepted already.
create function berth_hold_leases_v1(p_since bigint) returns void
language sql as $$
  update clock set held_since = berth.now_ms()
  where held_since is null and (accepted_at is null or accepted_at < p_since)
$$;
--> statement-breakpoint
-- An operator accepts the clock as it is now: the time since the leap counts as an outage, and leases
-- lapse again. Null: nothing was held.
create function berth_accept_clock_v1() returns jsonb
language plpgsql as $$
declare
  v_clock clock;
  v_now bigint;
begin
  select * into v_clock from clock for no key update;
  if v_clock.held_since is null then
    return null;
  end if;
  v_now := greatest(berth.now_ms(), v_clock.held_since + 1);
  update clock set
    held_since = null,
    accepted_at = (extract(epoch from clock_timestamp()) * 1000)::bigint,
    outage_to = berth.record_outage_v1(v_clock.held_since, v_now, v_clock.outage_to);
  return jsonb_build_object('from', v_clock.held_since, 'to', v_now);
end $$;
