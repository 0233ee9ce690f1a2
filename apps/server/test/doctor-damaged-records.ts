/** Damage to keys, waiters, events, terms and to what guards them (I5 to I8, GUARD); see `doctor-damaged-bookings.ts`. */
import { type Damage, PIN } from "./doctor-damaged-bookings.ts";

/** A unit reservation of one unit, with its term, as the gate would have written it. */
const FENCE = (unit: string, change: { id?: string; audience?: string; status?: string } = {}) => {
  const { id = "ursv_seeded", audience = "platform", status = "active" } = change;
  return `insert into unit_reservations
     (id, gate_id, node_id, status, allowed_org_ids, managing_org_ids, unit_ids, released_unit_ids,
      starts_at, topology_gen, created_by, created_at, updated_at, seq)
    select '${id}', u.gate_id, u.node_id, '${status}', '["${audience}"]', '[]', jsonb_build_array(u.id),
      '[]', 1, 1, 'platform/ops', berth.now_ms(), 1, 1 from units u where u.id = ${unit};
   insert into unit_terms select '${id}', u.key, int8range(1, null) from units u where u.id = ${unit};`;
};
const WAITER = (id: string, deadline: string) => `insert into waiters
   (id, pool_id, tenant_id, ancestors, priority, since, deadline, server_id, ask, seq)
  values (${id}, $pool, 't-a', '[]', 0, 0, ${deadline}, 'srv_x', '{}', 1)`;
export const DAMAGED_RECORDS: readonly Damage[] = [
  {
    what: "somebody who waits for a reservation that is there",
    sql: WAITER("$running", "9000000000000"),
    invariant: "I5",
    names: ["running"],
  },
  {
    what: "somebody who waits past the deadline",
    sql: WAITER("'rsv_late'", "1"),
    invariant: "I5",
    names: ["rsv_late"],
  },
  {
    what: "a live reservation that no key names",
    sql: `delete from reservation_keys where reservation_id = $running`,
    invariant: "I5",
    names: ["running"],
  },
  {
    what: "two keys for one reservation",
    sql: `insert into reservation_keys
       select tenant_id, principal, key || '-again', request_hash, reservation_id, pool_id, created_at
         from reservation_keys where reservation_id = $running`,
    invariant: "I5",
    names: ["running"],
  },
  {
    what: "one key for two reservations",
    sql: `alter table reservation_keys drop constraint reservation_keys_pk;
      insert into reservation_keys
       select tenant_id, principal, key, request_hash, $left, pool_id, created_at
         from reservation_keys where reservation_id = $later`,
    invariant: "I5",
    names: ["later", "left"],
  },
  {
    what: "a key of a reservation that does not exist",
    sql: `update reservation_keys set reservation_id = 'rsv_gone' where reservation_id = $left`,
    invariant: "I5",
    names: [],
  },
  {
    what: "a beginning that was never told",
    sql: `delete from events where reservation_id = $running and type = 'reservation.created'`,
    invariant: "I6",
    names: ["running"],
  },
  {
    what: "an end that was never told",
    sql: `delete from events where reservation_id = $over and type = 'reservation.completed'`,
    invariant: "I6",
    names: ["over"],
  },
  {
    what: "an end that was told twice",
    sql: `insert into events (tenant_id, event_id, stream, pool_id, reservation_id, seq, idx, type, at, data)
       select tenant_id, event_id || 'x', stream, pool_id, reservation_id, seq, idx + 100, type, at, data
         from events where reservation_id = $left and type = 'reservation.released'`,
    invariant: "I6",
    names: ["left"],
  },
  {
    what: "an end that was told of a live reservation",
    sql: `update events set type = 'reservation.released'
       where reservation_id = $running and type = 'reservation.created'`,
    invariant: "I6",
    names: ["running"],
  },
  {
    what: "a notice that was never told",
    sql: `update reservations set state = 'preempting' where id = $running`,
    invariant: "I6",
    names: ["running"],
  },
  {
    what: "a degraded booking whose tenant was never told",
    sql: `update reservations set degraded = '{"since":1,"cause":"UNHEALTHY","unitIds":[]}'
       where id = $running`,
    invariant: "I6",
    names: ["running"],
  },
  {
    what: "a unit reservation that was never told",
    sql: FENCE("$spareUnit"),
    invariant: "I6",
    names: ["ursv_seeded"],
  },
  {
    what: "a window of maintenance that was never told",
    sql: `insert into maintenance (id, node_id, gate_id, start, "end", state, created_at)
       select 'mnt_untold', $node, $pool, "end" + 1, "end" + 2, 'scheduled', created_at
         from reservations where id = $running`,
    invariant: "I6",
    names: ["mnt_untold", "node"],
  },
  {
    what: "a history ahead of its pool",
    sql: `update gates set seq = 1 where id = $pool`,
    invariant: "I6",
    names: ["pool"],
  },
  {
    what: "a booking on a unit of another pool",
    sql: `update units set gate_id = $spare where id = $runningUnit`,
    invariant: "I7",
    names: ["running", "runningUnit"],
  },
  {
    what: "a booking made into maintenance that was announced before",
    sql: `insert into maintenance (id, node_id, gate_id, start, "end", state, created_at)
       select 'mnt_seeded', $node, $pool, "end" - 1000, "end" + 1000, 'scheduled', created_at - 1
         from reservations where id = $running`,
    invariant: "I7",
    names: ["running", "node"],
  },
  {
    what: "a booking charged to a tenant that was never given the pool",
    sql: `update reservations set charged_tenant_id = 'platform' where id = $later`,
    invariant: "I7",
    names: ["later", "pool"],
  },
  {
    what: "a booking of an outsider on a unit that is kept for others",
    sql: FENCE("$runningUnit"),
    invariant: "I7",
    names: ["running", "runningUnit", "ursv_seeded"],
  },
  {
    what: "a booking made on a unit whose reservation needs a review",
    sql: FENCE("$runningUnit", { audience: "t-a", status: "needs-review" }),
    invariant: "I7",
    names: ["running", "runningUnit", "ursv_seeded"],
  },
  {
    what: "a unit reservation whose term is not stored",
    sql: `${FENCE("$spareUnit")} delete from unit_terms`,
    invariant: "I7",
    names: ["ursv_seeded", "spareUnit"],
  },
  {
    what: "a term that no unit reservation says",
    sql: `${FENCE("$spareUnit")} delete from unit_reservations`,
    invariant: "I7",
    names: ["ursv_seeded", "spareUnit"],
  },
  {
    what: "a unit reservation in another gate than its node",
    sql: `${FENCE("$spareUnit")} update unit_reservations set gate_id = $pool`,
    invariant: "I7",
    names: ["ursv_seeded"],
  },
  {
    what: "a unit reservation whose term is over and that stands",
    sql: `${FENCE("$spareUnit")} update unit_reservations set ends_at = 2`,
    invariant: "I7",
    names: ["ursv_seeded"],
  },
  {
    what: "a node with fewer CPUs than are booked on it",
    sql: `update nodes set vcpu = 15 where id = $node`,
    invariant: "I8",
    names: ["node"],
  },
  {
    what: "members that hold more memory than their node has",
    sql: `update reservations set members = jsonb_set(members, '{0,resources,memoryGiB}', '600')
       where id = $running`,
    invariant: "I8",
    names: ["node"],
  },
  {
    what: "more memory pinned before a start than the node has",
    sql: PIN(5_000),
    invariant: "I8",
    names: ["laterNode"],
  },
  {
    what: "the exclusion constraint of unit reservations gone",
    sql: `alter table unit_terms drop constraint unit_terms_no_overlap`,
    invariant: "GUARD",
    names: ["unit_terms"],
  },
  {
    what: "the exclusion constraint gone",
    sql: `alter table bookings drop constraint bookings_no_overlap`,
    invariant: "GUARD",
    names: [],
  },
  {
    what: "a guard trigger switched off",
    sql: `alter table reservations disable trigger guard`,
    invariant: "GUARD",
    names: [],
  },
  {
    what: "a primary key gone",
    sql: `alter table quotas drop constraint quotas_pk`,
    invariant: "GUARD",
    names: [],
  },
  {
    what: "a key without what was asked for under it",
    sql: `update reservation_keys set request_hash = '' where reservation_id = $running`,
    invariant: "I5",
    names: ["running"],
  },
  {
    what: "a notice that was told last of a booking that has none",
    sql: `insert into events (tenant_id, event_id, stream, pool_id, reservation_id, seq, idx, type, at, data)
       select tenant_id, event_id || 'x', stream, pool_id, reservation_id, seq, idx + 100,
         'reservation.preempting', at, data
         from events where reservation_id = $running and type = 'reservation.created'`,
    invariant: "I6",
    names: ["running"],
  },
  {
    what: "a start that was told of a booking that has not begun",
    sql: `insert into events (tenant_id, event_id, stream, pool_id, reservation_id, seq, idx, type, at, data)
       select tenant_id, event_id || 'x', stream, pool_id, reservation_id, seq, idx + 100,
         'reservation.activated', at, data
         from events where reservation_id = $later and type = 'reservation.created'`,
    invariant: "I6",
    names: ["later"],
  },
  {
    what: "an event that is missing among those of its write",
    sql: `update events set idx = idx + 1 where reservation_id = $left and type = 'reservation.released'`,
    invariant: "I6",
    names: ["pool"],
  },
  {
    what: "a node in another pool than its units",
    sql: `update nodes set pool_id = $spare, gate_id = $spare where id = $laterNode`,
    invariant: "I7",
    names: ["laterUnit", "laterNode"],
  },
  {
    what: "a node in another gate than its pool",
    sql: `update nodes set gate_id = $spare where id = $laterNode`,
    invariant: "I7",
    names: ["laterNode"],
  },
  {
    what: "a migration that was applied in another form",
    sql: `update berth_migrations set hash = 'other' where tag = '0001_gate'`,
    invariant: "GUARD",
    names: ["0001_gate"],
  },
  {
    what: "a migration that was not applied",
    sql: `delete from berth_migrations where tag = '0001_gate'`,
    invariant: "GUARD",
    names: ["0001_gate"],
  },
  {
    what: "commits that do not wait for the disk",
    sql: `do 'begin execute format(''alter database %I set synchronous_commit = off'', current_database()); end'`,
    invariant: "GUARD",
    names: ["synchronous_commit"],
  },
];
