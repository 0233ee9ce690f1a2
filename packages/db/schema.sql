create extension btree_gist;

create schema berth;

create table api_keys (
  id text not null,
  tenant_id text not null,
  name text not null,
  role text not null,
  scope jsonb,
  secret_hash bytea not null,
  created_by text,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);

create table audit (
  id bigint not null generated always as identity,
  at bigint not null,
  principal text not null,
  tenant_id text not null,
  method text not null,
  outcome text not null,
  target text,
  request_id text not null,
  count integer not null default 1
);

create table berth_migrations (
  tag text not null,
  hash text not null,
  at bigint not null
);

create table bookings (
  pool_id text not null,
  reservation_id text not null,
  unit_key bigint not null,
  during int8range not null
);

create table clock (
  one boolean not null default true,
  beat_at bigint,
  beat_now bigint,
  outage_to bigint not null default 0,
  held_since bigint,
  accepted_at bigint
) with (fillfactor=50);

create table events (
  id bigint not null generated always as identity,
  xid xid8 not null default pg_current_xact_id(),
  tenant_id text not null,
  event_id text not null,
  stream text not null,
  pool_id text,
  reservation_id text,
  seq bigint not null,
  idx integer not null,
  type text not null,
  at bigint not null,
  data jsonb not null
);

create table gate_batches (
  gate_id text not null,
  seq bigint not null,
  batch_id text not null,
  at bigint not null
);

create table gates (
  id text not null,
  seq bigint not null,
  last_at bigint not null,
  config_seq bigint not null,
  fleet_seq bigint not null,
  reset_seq bigint not null,
  grace_to bigint not null default 0
) with (fillfactor=50);

create table maintenance (
  id text not null,
  node_id text not null,
  gate_id text not null,
  start bigint not null,
  "end" bigint not null,
  state text not null,
  created_at bigint not null
);

create table meta (
  key text not null,
  value text not null
);

create table nodes (
  id text not null,
  site_id text not null,
  gate_id text not null,
  pool_id text,
  name text not null,
  address text,
  state text not null,
  labels jsonb not null,
  vcpu integer not null,
  memory_gib integer not null,
  hugepages_1gi integer not null,
  topology_gen bigint not null,
  version bigint not null,
  tenant_owned boolean not null,
  removed_at bigint,
  seq bigint not null
);

create table offers (
  pool_id text not null,
  tenant_id text not null,
  include_descendants boolean not null,
  priority integer not null,
  created_at bigint not null
);

create table outages (
  to_at bigint not null,
  from_at bigint not null
);

create table pool_authz (
  pool_id text not null,
  tenant_id text not null,
  gpu_model text,
  class text not null,
  sharing text not null,
  region text not null,
  owned boolean not null,
  version bigint not null
);

create table pool_due (
  gate_id text not null,
  next_at bigint
);

create table pools (
  id text not null,
  tenant_id text not null,
  site_id text not null,
  region text not null,
  class text not null,
  gpu_model text,
  sharing text not null,
  agent text not null,
  policy jsonb not null,
  kubernetes_token bytea,
  provider_account_id text,
  version bigint not null,
  archived_at bigint,
  created_by text not null,
  idempotency_key text,
  created_at bigint not null,
  updated_at bigint not null
);

create table provider_accounts (
  id text not null,
  tenant_id text not null,
  name text not null,
  kind text not null,
  created_at bigint not null
);

create table quotas (
  pool_id text not null,
  tenant_id text not null,
  resource text not null,
  max bigint not null,
  used bigint not null default 0,
  used_at bigint not null
) with (fillfactor=50);

create table reservation_keys (
  tenant_id text not null,
  principal text not null,
  key text not null,
  request_hash text not null,
  reservation_id text not null,
  pool_id text not null,
  created_at bigint not null
);

create table reservations (
  id text not null,
  pool_id text not null,
  tenant_id text not null,
  charged_tenant_id text not null,
  project_id text,
  state text not null,
  binding text not null,
  gang jsonb,
  node_setup jsonb,
  spot boolean not null,
  start bigint not null,
  "end" bigint not null,
  started_at bigint,
  preemption jsonb,
  degraded jsonb,
  pins jsonb not null default '[]'::jsonb,
  lease_seconds integer,
  lease_expires_at bigint,
  ending_soon_at bigint,
  topology text not null,
  devices jsonb not null,
  resources jsonb not null,
  members jsonb not null,
  ended_at bigint,
  end_reason text,
  version bigint not null,
  created_by text not null,
  created_at bigint not null,
  updated_at bigint not null,
  seq bigint not null
);

create table rollups (
  pool_id text not null,
  resource text not null,
  total bigint not null,
  allocatable bigint not null,
  allocated bigint not null,
  reserved bigint not null,
  available bigint not null,
  provisioning bigint not null,
  unhealthy bigint not null,
  maintenance bigint not null,
  unreachable bigint not null,
  updated_at bigint not null
) with (fillfactor=50);

create table servers (
  id text not null,
  beat_at bigint not null
);

create table sites (
  id text not null,
  tenant_id text not null,
  name text not null,
  kind text not null,
  region text not null,
  desired_gen bigint not null default 0,
  created_at bigint not null
);

create table streams (
  id text not null,
  seq bigint not null
);

create table tenants (
  tenant_id text not null,
  parent_id text,
  name text,
  created_at bigint not null
);

create table unit_reservations (
  id text not null,
  gate_id text not null,
  node_id text not null,
  status text not null,
  allowed_org_ids jsonb not null,
  managing_org_ids jsonb not null,
  unit_ids jsonb not null,
  released_unit_ids jsonb not null,
  starts_at bigint not null,
  ends_at bigint,
  ended_at bigint,
  topology_gen bigint not null,
  reason text,
  contract_ref text,
  created_by text not null,
  created_at bigint not null,
  updated_at bigint not null,
  seq bigint not null
);

create table unit_terms (
  unit_reservation_id text not null,
  unit_key bigint not null,
  during int8range not null
);

create table units (
  key bigint not null generated always as identity,
  id text not null,
  node_id text not null,
  gate_id text not null,
  class text not null,
  index integer not null,
  model text,
  profile text,
  placement integer,
  gpu_uuid text,
  pci_address text,
  memory_gib integer,
  nvlink_domain text,
  vfio_group text,
  parent_unit_id text,
  healthy boolean not null,
  removed boolean not null,
  carrier boolean not null default false,
  mig_profiles jsonb,
  gone_at bigint
);

create table waiters (
  id text not null,
  pool_id text not null,
  tenant_id text not null,
  ancestors jsonb not null,
  priority integer not null,
  since bigint not null,
  deadline bigint not null,
  server_id text not null,
  key jsonb,
  ask jsonb not null,
  done_at bigint,
  seq bigint not null
);

alter table api_keys add constraint api_keys_pkey PRIMARY KEY (id);

alter table api_keys add constraint api_keys_tenant_id_tenants_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id);

alter table audit add constraint audit_pkey PRIMARY KEY (id);

alter table berth_migrations add constraint berth_migrations_pkey PRIMARY KEY (tag);

alter table bookings add constraint bookings_no_overlap EXCLUDE USING gist (unit_key WITH =, during WITH &&);

alter table bookings add constraint bookings_pk PRIMARY KEY (reservation_id, unit_key);

alter table bookings add constraint bookings_window CHECK (((NOT isempty(during)) AND (lower(during) IS NOT NULL) AND (upper(during) IS NOT NULL)));

alter table clock add constraint clock_one CHECK (one);

alter table clock add constraint clock_pkey PRIMARY KEY (one);

alter table events add constraint events_pkey PRIMARY KEY (id);

alter table gate_batches add constraint gate_batches_batch UNIQUE (batch_id);

alter table gate_batches add constraint gate_batches_pk PRIMARY KEY (gate_id, seq);

alter table gates add constraint gates_pkey PRIMARY KEY (id);

alter table maintenance add constraint maintenance_node_id_nodes_id_fk FOREIGN KEY (node_id) REFERENCES nodes(id);

alter table maintenance add constraint maintenance_pkey PRIMARY KEY (id);

alter table maintenance add constraint maintenance_state CHECK ((state = ANY (ARRAY['scheduled'::text, 'active'::text, 'ended'::text, 'cancelled'::text])));

alter table maintenance add constraint maintenance_window CHECK ((start < "end"));

alter table meta add constraint meta_pkey PRIMARY KEY (key);

alter table nodes add constraint nodes_pkey PRIMARY KEY (id);

alter table nodes add constraint nodes_scalars CHECK (((vcpu >= 0) AND (memory_gib >= 0) AND (hugepages_1gi >= 0)));

alter table nodes add constraint nodes_site_id_sites_id_fk FOREIGN KEY (site_id) REFERENCES sites(id);

alter table nodes add constraint nodes_state CHECK ((state = ANY (ARRAY['ready'::text, 'provisioning'::text, 'unhealthy'::text, 'maintenance'::text, 'unreachable'::text])));

alter table offers add constraint offers_pk PRIMARY KEY (pool_id, tenant_id);

alter table offers add constraint offers_tenant_id_tenants_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id);

alter table outages add constraint outages_pkey PRIMARY KEY (to_at);

alter table outages add constraint outages_window CHECK ((from_at < to_at));

alter table pool_authz add constraint pool_authz_pk PRIMARY KEY (pool_id, tenant_id);

alter table pool_due add constraint pool_due_pkey PRIMARY KEY (gate_id);

alter table pools add constraint pools_agent CHECK ((agent = ANY (ARRAY['bcd'::text, 'none'::text])));

alter table pools add constraint pools_class CHECK ((class = ANY (ARRAY['metal-host'::text, 'metal-dedicated'::text, 'vps-host'::text, 'provider'::text])));

alter table pools add constraint pools_pkey PRIMARY KEY (id);

alter table pools add constraint pools_provider_account_id_provider_accounts_id_fk FOREIGN KEY (provider_account_id) REFERENCES provider_accounts(id);

alter table pools add constraint pools_sharing CHECK ((sharing = ANY (ARRAY['exclusive'::text, 'mig'::text, 'timeslice'::text, 'mps'::text])));

alter table pools add constraint pools_site_id_sites_id_fk FOREIGN KEY (site_id) REFERENCES sites(id);

alter table pools add constraint pools_tenant_id_tenants_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id);

alter table provider_accounts add constraint provider_accounts_name UNIQUE (tenant_id, name);

alter table provider_accounts add constraint provider_accounts_pkey PRIMARY KEY (id);

alter table provider_accounts add constraint provider_accounts_tenant_id_tenants_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id);

alter table quotas add constraint quotas_pk PRIMARY KEY (pool_id, tenant_id, resource);

alter table quotas add constraint quotas_range CHECK (((max >= 0) AND (used >= 0)));

alter table quotas add constraint quotas_tenant_id_tenants_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id);

alter table reservation_keys add constraint reservation_keys_pk PRIMARY KEY (tenant_id, principal, key);

alter table reservations add constraint reservations_begun CHECK (
CASE state
    WHEN 'scheduled'::text THEN (started_at IS NULL)
    WHEN 'active'::text THEN (started_at IS NOT NULL)
    ELSE true
END);

alter table reservations add constraint reservations_binding CHECK ((binding = ANY (ARRAY['hold'::text, 'node'::text])));

alter table reservations add constraint reservations_ended CHECK (((ended_at IS NULL) = (state = ANY (ARRAY['scheduled'::text, 'active'::text, 'preempting'::text]))));

alter table reservations add constraint reservations_pkey PRIMARY KEY (id);

alter table reservations add constraint reservations_state CHECK ((state = ANY (ARRAY['scheduled'::text, 'active'::text, 'preempting'::text, 'completed'::text, 'released'::text, 'expired'::text, 'preempted'::text, 'terminated'::text])));

alter table reservations add constraint reservations_window CHECK ((start < "end"));

alter table rollups add constraint rollups_pk PRIMARY KEY (pool_id, resource);

alter table servers add constraint servers_pkey PRIMARY KEY (id);

alter table sites add constraint sites_kind CHECK ((kind = ANY (ARRAY['custom'::text, 'platform'::text])));

alter table sites add constraint sites_name UNIQUE (tenant_id, name);

alter table sites add constraint sites_pkey PRIMARY KEY (id);

alter table sites add constraint sites_tenant_id_tenants_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id);

alter table streams add constraint streams_pkey PRIMARY KEY (id);

alter table tenants add constraint tenants_parent_id_tenants_tenant_id_fk FOREIGN KEY (parent_id) REFERENCES tenants(tenant_id);

alter table tenants add constraint tenants_pkey PRIMARY KEY (tenant_id);

alter table unit_reservations add constraint unit_reservations_ended CHECK (((ended_at IS NULL) = (status = ANY (ARRAY['pending'::text, 'active'::text, 'needs-review'::text]))));

alter table unit_reservations add constraint unit_reservations_node_id_nodes_id_fk FOREIGN KEY (node_id) REFERENCES nodes(id);

alter table unit_reservations add constraint unit_reservations_pkey PRIMARY KEY (id);

alter table unit_reservations add constraint unit_reservations_status CHECK ((status = ANY (ARRAY['pending'::text, 'active'::text, 'expired'::text, 'cancelled'::text, 'needs-review'::text])));

alter table unit_reservations add constraint unit_reservations_window CHECK ((starts_at < ends_at));

alter table unit_terms add constraint unit_terms_no_overlap EXCLUDE USING gist (unit_key WITH =, during WITH &&);

alter table unit_terms add constraint unit_terms_pk PRIMARY KEY (unit_reservation_id, unit_key);

alter table unit_terms add constraint unit_terms_window CHECK (((NOT isempty(during)) AND (lower(during) IS NOT NULL)));

alter table units add constraint units_class CHECK ((class = ANY (ARRAY['gpu'::text, 'gpu.mig'::text, 'gpu.slot'::text, 'nic.vf'::text, 'disk'::text])));

alter table units add constraint units_id UNIQUE (id);

alter table units add constraint units_node_id_nodes_id_fk FOREIGN KEY (node_id) REFERENCES nodes(id);

alter table units add constraint units_pkey PRIMARY KEY (key);

alter table waiters add constraint waiters_pkey PRIMARY KEY (id);

alter table waiters add constraint waiters_window CHECK ((since < deadline));

CREATE INDEX api_keys_tenant ON public.api_keys USING btree (tenant_id, created_at DESC NULLS LAST, id DESC NULLS LAST);

CREATE INDEX audit_tenant ON public.audit USING btree (tenant_id, id);

CREATE INDEX events_feed ON public.events USING btree (tenant_id, xid, id);

CREATE INDEX maintenance_node ON public.maintenance USING btree (node_id);

CREATE INDEX nodes_gate ON public.nodes USING btree (gate_id, seq);

CREATE UNIQUE INDEX nodes_name ON public.nodes USING btree (site_id, name) WHERE (removed_at IS NULL);

CREATE INDEX offers_tenant ON public.offers USING btree (tenant_id);

CREATE INDEX pool_authz_tenant ON public.pool_authz USING btree (tenant_id);

CREATE INDEX pool_due_next ON public.pool_due USING btree (next_at);

CREATE INDEX pools_site ON public.pools USING btree (site_id);

CREATE INDEX pools_tenant ON public.pools USING btree (tenant_id, created_at DESC NULLS LAST, id DESC NULLS LAST);

CREATE INDEX reservations_live ON public.reservations USING btree (pool_id) WHERE (state = ANY (ARRAY['scheduled'::text, 'active'::text, 'preempting'::text]));

CREATE INDEX reservations_seq ON public.reservations USING btree (pool_id, seq);

CREATE INDEX reservations_tenant ON public.reservations USING btree (tenant_id, created_at DESC NULLS LAST, id DESC NULLS LAST);

CREATE INDEX tenants_parent ON public.tenants USING btree (parent_id);

CREATE INDEX unit_reservations_node ON public.unit_reservations USING btree (node_id, created_at DESC NULLS LAST, id DESC NULLS LAST);

CREATE INDEX unit_reservations_seq ON public.unit_reservations USING btree (gate_id, seq);

CREATE INDEX units_gpu_uuid ON public.units USING btree (gpu_uuid);

CREATE INDEX units_node ON public.units USING btree (node_id);

CREATE INDEX waiters_done ON public.waiters USING btree (pool_id, done_at);

CREATE INDEX waiters_seq ON public.waiters USING btree (pool_id, seq);

CREATE OR REPLACE FUNCTION berth.claim_keys_together_v1(p jsonb, p_gates text[], p_nows bigint[], p_in boolean[])
 RETURNS SETOF integer
 LANGUAGE plpgsql
AS $function$
declare
  v_stored bigint;
  v_taken integer[];
begin
  insert into reservation_keys
    (tenant_id, principal, key, request_hash, reservation_id, pool_id, created_at)
  select k.tenant_id, k.principal, k.key, k.request_hash, k.reservation_id, p_gates[k.place], p_nows[k.place]
  from jsonb_to_recordset(p -> 'keys') k (
    place integer, tenant_id text, principal text, key text, request_hash text, reservation_id text)
  where p_in[k.place]
  order by k.tenant_id, k.principal, k.key, k.place
  on conflict do nothing;
  get diagnostics v_stored = row_count;
  if v_stored = (
    select count(*) from jsonb_to_recordset(p -> 'keys') k (place integer) where p_in[k.place]) then
    return;
  end if;
  select array_agg(distinct k.place) into v_taken
  from jsonb_to_recordset(p -> 'keys') k (
    place integer, tenant_id text, principal text, key text, reservation_id text)
  where p_in[k.place] and not exists (
    select from reservation_keys r
    where (r.tenant_id, r.principal, r.key) = (k.tenant_id, k.principal, k.key)
      and (r.reservation_id, r.pool_id) = (k.reservation_id, p_gates[k.place])
      and r.xmin = pg_current_xact_id()::xid);
  delete from reservation_keys r
  using jsonb_to_recordset(p -> 'keys') k (
    place integer, tenant_id text, principal text, key text, reservation_id text)
  where k.place = any (v_taken)
    and (r.tenant_id, r.principal, r.key) = (k.tenant_id, k.principal, k.key)
    and (r.reservation_id, r.pool_id) = (k.reservation_id, p_gates[k.place])
    and r.xmin = pg_current_xact_id()::xid;
  return query select unnest(v_taken);
end $function$
;

CREATE OR REPLACE FUNCTION berth.claim_keys_v1(p_gate text, p_now bigint, p_keys jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION berth.close_maintenance_v1(p_now bigint, p_batch jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  update maintenance m set state = case when m."end" <= p_now then 'ended' else 'cancelled' end
  where m.state in ('scheduled', 'active')
    and m.node_id in (
      select n.id from jsonb_to_recordset(p_batch -> 'nodes') n (id text)
      union all
      select jsonb_array_elements_text(p_batch -> 'removed'))
    and not exists (
      select from jsonb_to_recordset(p_batch -> 'maintenance') n (id text) where n.id = m.id)
$function$
;

CREATE OR REPLACE FUNCTION berth.elsewhere_v1(p_gate text, p_batch jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION berth.enter_v1(p_gate text, p_expected bigint, p_now bigint, p_batch jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION berth.fenced_v1(p_batch jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION berth.guard()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if current_setting('berth.gate', true) is distinct from pg_current_xact_id()::text then
    raise exception 'table % is changed only through the gate', tg_table_name
      using errcode = 'BG001', hint = 'Call berth_apply_v1: other servers plan on what it numbered.';
  end if;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION berth.now_ms()
 RETURNS bigint
 LANGUAGE sql
 PARALLEL SAFE
AS $function$ select (extract(epoch from clock_timestamp()) * 1000)::bigint $function$
;

CREATE OR REPLACE FUNCTION berth.record_outage_v1(p_from bigint, p_to bigint, p_last bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  v_to bigint := greatest(p_to, p_last + 1);
begin
  update outages set to_at = v_to, from_at = least(from_at, p_from)
  where to_at = p_last and p_from < p_last + 30000;
  if not found then
    insert into outages (from_at, to_at) values (p_from, v_to);
  end if;
  return v_to;
end $function$
;

CREATE OR REPLACE FUNCTION berth.remove_nodes_v1(p_gate text, p_seq bigint, p_now bigint, p_batch jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update nodes set removed_at = p_now, seq = p_seq
  where gate_id = p_gate and id in (select jsonb_array_elements_text(p_batch -> 'removed'));
  update units set gone_at = p_now
  where gone_at is null and node_id in (select jsonb_array_elements_text(p_batch -> 'removed'));
  perform berth.close_maintenance_v1(p_now, p_batch);
end $function$
;

CREATE OR REPLACE FUNCTION berth.write_config_v1(p_gate text, p_now bigint, p_config jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION berth.write_counts_together_v1(p jsonb, p_gates text[], p_seqs bigint[], p_nows bigint[], p_in boolean[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if p ? 'rollup' then
    insert into rollups (
      pool_id, resource, total, allocatable, allocated, reserved, available, provisioning, unhealthy,
      maintenance, unreachable, updated_at)
    select p_gates[n.place], n.resource, n.total, n.allocatable, n.allocated, n.reserved, n.available,
      n.provisioning, n.unhealthy, n.maintenance, n.unreachable, p_nows[n.place]
    from jsonb_to_recordset(p -> 'rollup') n (
      place integer, resource text, total bigint, allocatable bigint, allocated bigint, reserved bigint,
      available bigint, provisioning bigint, unhealthy bigint, maintenance bigint, unreachable bigint)
    where p_in[n.place]
    on conflict (pool_id, resource) do update set
      total = excluded.total, allocatable = excluded.allocatable, allocated = excluded.allocated,
      reserved = excluded.reserved, available = excluded.available,
      provisioning = excluded.provisioning, unhealthy = excluded.unhealthy,
      maintenance = excluded.maintenance, unreachable = excluded.unreachable,
      updated_at = excluded.updated_at;
  end if;
  if p ? 'quotaUsed' then
    update quotas q set used = n.used, used_at = p_nows[n.place]
    from jsonb_to_recordset(p -> 'quotaUsed') n (place integer, tenant_id text, resource text, used bigint)
    where p_in[n.place]
      and (q.pool_id, q.tenant_id, q.resource) = (p_gates[n.place], n.tenant_id, n.resource);
  end if;
  if p ? 'events' then
    insert into events
      (tenant_id, event_id, stream, pool_id, reservation_id, seq, idx, type, at, data)
    select n.tenant_id, n.event_id, p_gates[n.place], p_gates[n.place], n.reservation_id, p_seqs[n.place],
      n.idx, n.type, n.at, n.data
    from jsonb_to_recordset(p -> 'events') n (
      place integer, tenant_id text, event_id text, reservation_id text, idx integer, type text, at bigint,
      data jsonb)
    where p_in[n.place];
  end if;
  if p ? 'audit' then
    insert into audit (at, principal, tenant_id, method, outcome, target, request_id)
    select berth.now_ms(), n.principal, n.tenant_id, n.method, 'ok', n.target, n.request_id
    from jsonb_to_recordset(p -> 'audit') n (
      place integer, principal text, tenant_id text, method text, target text, request_id text)
    where p_in[n.place];
  end if;
  insert into pool_due (gate_id, next_at)
  select w.gate, w.due from jsonb_to_recordset(p -> 'writes') w (place integer, gate text, due bigint)
  where p_in[w.place]
  on conflict (gate_id) do update set next_at = excluded.next_at
  where pool_due.next_at is distinct from excluded.next_at;
  insert into gate_batches (gate_id, seq, batch_id, at)
  select w.gate, p_seqs[w.place], w.batch, p_nows[w.place]
  from jsonb_to_recordset(p -> 'writes') w (place integer, gate text, batch text)
  where p_in[w.place];
  update gates g set
    seq = p_seqs[w.place], last_at = p_nows[w.place], grace_to = greatest(g.grace_to, w.grace)
  from jsonb_to_recordset(p -> 'writes') w (place integer, gate text, grace bigint)
  where p_in[w.place] and g.id = w.gate;
end $function$
;

CREATE OR REPLACE FUNCTION berth.write_counts_v1(p_gate text, p_seq bigint, p_now bigint, p_batch jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION berth.write_events_v1(p_stream text, p_seq bigint, p_events jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  v_pool text := case when p_stream like 'pool\_%' then p_stream end;
begin
  insert into events
    (tenant_id, event_id, stream, pool_id, reservation_id, seq, idx, type, at, data)
  select n.tenant_id, n.event_id, p_stream, v_pool, n.reservation_id, p_seq, n.idx, n.type, n.at, n.data
  from jsonb_to_recordset(p_events) n (
    tenant_id text, event_id text, reservation_id text, idx integer, type text, at bigint, data jsonb);
end $function$
;

CREATE OR REPLACE FUNCTION berth.write_nodes_v1(p_gate text, p_seq bigint, p_now bigint, p_batch jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION berth.write_reservations_together_v1(p jsonb, p_gates text[], p_seqs bigint[], p_in boolean[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  v_written bigint;
begin
  if p ? 'drops' then
    delete from bookings b using jsonb_to_recordset(p -> 'drops') d (place integer, id text)
    where p_in[d.place] and b.reservation_id = d.id;
  end if;
  if p ? 'cuts' then
    update bookings b set during = int8range(lower(b.during), c."end")
    from jsonb_to_recordset(p -> 'cuts') c (place integer, id text, "end" bigint)
    where p_in[c.place] and b.reservation_id = c.id;
  end if;
  if p ? 'extends' then
    update bookings b set during = int8range(lower(b.during), c."end")
    from jsonb_to_recordset(p -> 'extends') c (place integer, id text, "end" bigint)
    where p_in[c.place] and b.reservation_id = c.id;
  end if;
  if p ? 'changed' then
    update reservations r set
      charged_tenant_id = n.charged_tenant_id, state = n.state, spot = n.spot, start = n.start,
      "end" = n."end", lease_seconds = n.lease_seconds, lease_expires_at = n.lease_expires_at,
      ending_soon_at = n.ending_soon_at, started_at = n.started_at, preemption = n.preemption,
      degraded = n.degraded, pins = n.pins, members = n.members, ended_at = n.ended_at,
      end_reason = n.end_reason, version = n.version, updated_at = n.updated_at, seq = p_seqs[n.place]
    from jsonb_to_recordset(p -> 'changed') n (
      place integer, id text, charged_tenant_id text, state text, spot boolean, start bigint, "end" bigint,
      lease_seconds integer, lease_expires_at bigint, ending_soon_at bigint, started_at bigint,
      preemption jsonb, degraded jsonb, pins jsonb, members jsonb, ended_at bigint, end_reason text,
      version bigint, updated_at bigint)
    -- As in `write_reservations_v1` below: by its id and no other way.
    where r.id = any (array(select c ->> 'id' from jsonb_array_elements(p -> 'changed') c))
      and p_in[n.place] and r.id = n.id and r.pool_id || '' = p_gates[n.place];
    get diagnostics v_written = row_count;
    if v_written <> (
      select count(*) from jsonb_to_recordset(p -> 'changed') n (place integer) where p_in[n.place]) then
      raise exception 'a reservation that changed is not in its pool' using errcode = 'BG002';
    end if;
  end if;
  if p ? 'created' then
    insert into reservations (
      id, pool_id, tenant_id, charged_tenant_id, project_id, state, binding, gang, node_setup, spot,
      start, "end", started_at, preemption, degraded, pins, lease_seconds, lease_expires_at,
      ending_soon_at, topology, devices, resources, members, ended_at, end_reason, version, created_by,
      created_at, updated_at, seq)
    select n.id, p_gates[n.place], n.tenant_id, n.charged_tenant_id, n.project_id, n.state, n.binding,
      n.gang, n.node_setup, n.spot, n.start, n."end", n.started_at, n.preemption, n.degraded, n.pins,
      n.lease_seconds, n.lease_expires_at, n.ending_soon_at, n.topology, n.devices, n.resources,
      n.members, n.ended_at, n.end_reason, n.version, n.created_by, n.created_at, n.updated_at,
      p_seqs[n.place]
    from jsonb_to_recordset(p -> 'created') n (
      place integer, id text, tenant_id text, charged_tenant_id text, project_id text, state text,
      binding text, gang jsonb, node_setup jsonb, spot boolean, start bigint, "end" bigint,
      started_at bigint, preemption jsonb, degraded jsonb, pins jsonb, lease_seconds integer,
      lease_expires_at bigint, ending_soon_at bigint, topology text, devices jsonb, resources jsonb,
      members jsonb, ended_at bigint, end_reason text, version bigint, created_by text,
      created_at bigint, updated_at bigint)
    where p_in[n.place];
  end if;
  if p ? 'bookings' then
    -- A lookup a row; a unit that is not its gate's has no key here, and a booking cannot be without one.
    insert into bookings (pool_id, reservation_id, unit_key, during)
    select p_gates[n.place], n.id,
      (select u.key from units u
        where u.id = n.unit_id and u.gate_id = p_gates[n.place] and u.gone_at is null and not u.carrier),
      int8range(n.start, n."end")
    from jsonb_to_recordset(p -> 'bookings') n (
      place integer, id text, unit_id text, start bigint, "end" bigint)
    where p_in[n.place];
  end if;
end $function$
;

CREATE OR REPLACE FUNCTION berth.write_reservations_v1(p_gate text, p_seq bigint, p_batch jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
    -- By its id and no other way: a plan made while the table is small, which it is until it is analyzed, would else read
    -- all that the pool ever had.
    where r.id = any (array(select c ->> 'id' from jsonb_array_elements(p_batch -> 'changed') c))
      and r.id = n.id and r.pool_id || '' = p_gate;
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
end $function$
;

CREATE OR REPLACE FUNCTION berth.write_unit_reservations_v1(p_gate text, p_seq bigint, p_batch jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION berth.write_v1(p_gate text, p_seq bigint, p_now bigint, p_batch jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION berth.write_waiters_v1(p_gate text, p_seq bigint, p_now bigint, p_batch jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION public.berth_accept_clock_v1()
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION public.berth_apply_pair_v1(p_a text, p_a_expected bigint, p_a_batch jsonb, p_b text, p_b_expected bigint, p_b_batch jsonb, p_now bigint)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION public.berth_apply_together_v1(p jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  v_wall bigint := berth.now_ms();
  v_gates text[];
  v_seqs bigint[];
  v_nows bigint[];
  v_in boolean[];
  v_answers jsonb[];
  v_write record;
  v_clock bigint;
  v_mark text;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the gate needs READ COMMITTED: an older snapshot would not show what its lock protects'
      using errcode = '25000';
  end if;
  -- Nobody is waited for here: whoever held one pool would hold up all.
  for v_write in
    with held as materialized (
      select g.id, g.seq, g.last_at from gates g
      where g.id in (select w.gate from jsonb_to_recordset(p -> 'writes') w (gate text))
      order by g.id for no key update skip locked
    )
    select w.place, w.gate, w.expected, w.now, h.seq, h.last_at
    from jsonb_to_recordset(p -> 'writes') w (place integer, gate text, expected bigint, now bigint)
    left join held h on h.id = w.gate
    order by w.place
  loop
    v_clock := greatest(v_wall, v_write.last_at);
    v_gates[v_write.place] := v_write.gate;
    v_seqs[v_write.place] := v_write.expected + 1;
    v_nows[v_write.place] := v_write.now;
    v_answers[v_write.place] := case
      when v_write.seq is null then jsonb_build_object('ok', false, 'kind', 'alone')
      when v_write.seq <> v_write.expected then
        jsonb_build_object('ok', false, 'kind', 'stale', 'seq', v_write.seq)
      when v_write.now < v_clock - 1000 or v_write.now < v_write.last_at then
        jsonb_build_object('ok', false, 'kind', 'behind', 'now', v_clock)
      else jsonb_build_object('ok', true, 'seq', v_write.expected + 1) end;
    v_in[v_write.place] := (v_answers[v_write.place] ->> 'ok')::boolean;
  end loop;
  v_mark := set_config('berth.gate', pg_current_xact_id()::text, true);
  if p ? 'keys' then
    for v_write in select place from berth.claim_keys_together_v1(p, v_gates, v_nows, v_in) taken (place) loop
      v_in[v_write.place] := false;
      v_answers[v_write.place] := jsonb_build_object('ok', false, 'kind', 'alone');
    end loop;
  end if;
  if true = any (v_in) then
    perform berth.write_reservations_together_v1(p, v_gates, v_seqs, v_in);
    perform berth.write_counts_together_v1(p, v_gates, v_seqs, v_nows, v_in);
  end if;
  v_mark := set_config('berth.gate', '', true);
  return to_jsonb(v_answers);
end $function$
;

CREATE OR REPLACE FUNCTION public.berth_apply_v1(p_gate text, p_expected bigint, p_now bigint, p_batch jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
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
  if p_batch ? 'audit' then
    insert into audit (at, principal, tenant_id, method, outcome, target, request_id)
    select berth.now_ms(), n.principal, n.tenant_id, n.method, 'ok', n.target, n.request_id
    from jsonb_to_recordset(p_batch -> 'audit') n (
      principal text, tenant_id text, method text, target text, request_id text);
  end if;
  v_mark := set_config('berth.gate', '', true);
  return jsonb_build_object('ok', true, 'seq', p_expected + 1);
end $function$
;

CREATE OR REPLACE FUNCTION public.berth_beat_v1(p_server text)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE OR REPLACE FUNCTION public.berth_emit_v1(p_stream text, p_events jsonb)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  v_seq bigint;
begin
  insert into streams (id, seq) values (p_stream, 1)
  on conflict (id) do update set seq = streams.seq + 1
  returning seq into v_seq;
  perform berth.write_events_v1(p_stream, v_seq, p_events);
  return v_seq;
end $function$
;

CREATE OR REPLACE FUNCTION public.berth_hold_leases_v1(p_since bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
  update clock set held_since = berth.now_ms()
  where held_since is null and (accepted_at is null or accepted_at < p_since)
$function$
;

CREATE OR REPLACE FUNCTION public.berth_outcome_v1(p_gate text, p_batch_id text)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
end $function$
;

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.bookings FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.gate_batches FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.gates FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.maintenance FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.nodes FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.offers FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.pool_authz FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.pool_due FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.pools FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.quotas FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.reservation_keys FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.reservations FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.rollups FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.unit_reservations FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.unit_terms FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.units FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();

CREATE TRIGGER guard BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.waiters FOR EACH STATEMENT EXECUTE FUNCTION berth.guard();
