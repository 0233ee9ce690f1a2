-- Batches of several gates in one statement: what bookings need and nothing else. Each is judged by itself and answered in
-- its place, as `berth_apply_v1` would; one that has to wait for somebody, or whose keys are taken, is answered `alone` and
-- has stored nothing: that function says the rest. A gate is in here once.
create function berth_apply_together_v1(p jsonb) returns jsonb
language plpgsql as $$
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
end $$;
--> statement-breakpoint
-- Stores the keys, in order over all gates; returns the places of those of whose keys one was there already, in the
-- database or in a gate before it. Of these nothing is kept.
create function berth.claim_keys_together_v1(p jsonb, p_gates text[], p_nows bigint[], p_in boolean[])
returns setof integer
language plpgsql as $$
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
end $$;
--> statement-breakpoint
-- As `write_reservations_v1`: what frees units first, what takes them last.
create function berth.write_reservations_together_v1(
  p jsonb, p_gates text[], p_seqs bigint[], p_in boolean[]) returns void
language plpgsql as $$
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
end $$;
--> statement-breakpoint
-- As `write_counts_v1` and what `write_v1` does after it.
create function berth.write_counts_together_v1(
  p jsonb, p_gates text[], p_seqs bigint[], p_nows bigint[], p_in boolean[]) returns void
language plpgsql as $$
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
end $$;
--> statement-breakpoint
-- As it was but for how a changed reservation is found.
create or replace function berth.write_reservations_v1(p_gate text, p_seq bigint, p_batch jsonb) returns void
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
end $$;
--> statement-breakpoint
-- As it was, and the calls that the batch decides are put on file with it.
create or replace function berth_apply_v1(p_gate text, p_expected bigint, p_now bigint, p_batch jsonb) returns jsonb
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
  if p_batch ? 'audit' then
    insert into audit (at, principal, tenant_id, method, outcome, target, request_id)
    select berth.now_ms(), n.principal, n.tenant_id, n.method, 'ok', n.target, n.request_id
    from jsonb_to_recordset(p_batch -> 'audit') n (
      principal text, tenant_id text, method text, target text, request_id text);
  end if;
  v_mark := set_config('berth.gate', '', true);
  return jsonb_build_object('ok', true, 'seq', p_expected + 1);
end $$;
