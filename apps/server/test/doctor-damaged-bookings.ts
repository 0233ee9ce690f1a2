/**
 * Damage to bookings, units and counts (I1 to I4), as SQL on a copy of a healthy database. $name is the id
 * of a seed of `doctor.test.ts`.
 */
export interface Damage {
  readonly what: string;
  readonly sql: string;
  readonly invariant: string;
  /** Names of seeds that the violation must list. */
  readonly names: readonly string[];
}

/** Keeps a unit for `later` from a minute before its start. */
export const PIN = (
  memoryGiB: number,
) => `update reservations set pins = jsonb_build_array(jsonb_build_object(
   'nodeId', $laterNode::text, 'unitIds', jsonb_build_array($laterUnit::text), 'from', start - 60000,
   'resources', jsonb_build_object('vcpu', 0, 'memoryGiB', ${memoryGiB}, 'hugepages1Gi', 0)))
  where id = $later`;

export const DAMAGED_BOOKINGS: readonly Damage[] = [
  {
    what: "a second booking row on a booked unit",
    sql: `alter table bookings drop constraint bookings_no_overlap;
      insert into bookings select pool_id, $running, unit_key, during from bookings
       where reservation_id = $later limit 1`,
    invariant: "I1",
    names: ["running", "later"],
  },
  {
    what: "two live reservations with the same members at one time",
    sql: `update reservations set members = (select members from reservations where id = $running)
       where id = $later`,
    invariant: "I1",
    names: ["running", "later", "runningUnit"],
  },
  {
    what: "two bookings that overlap only in what was pinned before a start",
    sql: `update reservations set members = jsonb_set(members, '{0,unitIds,0}', to_jsonb($runningUnit::text)),
        start = "end" - 1, pins = jsonb_build_array(jsonb_build_object('nodeId', $node::text,
          'unitIds', jsonb_build_array($runningUnit::text), 'from', start, 'resources', '{}'::jsonb))
       where id = $later;
      update reservations set "end" = (select "end" - 1 from reservations where id = $later)
       where id = $running`,
    invariant: "I1",
    names: ["running", "later", "runningUnit"],
  },
  {
    what: "a booking on a GPU that is shared out",
    sql: `update units set carrier = true where id = $runningUnit`,
    invariant: "I1",
    names: ["running", "runningUnit"],
  },
  {
    what: "two instances in one place on their GPU",
    sql: `update units set carrier = true where id = $spareUnit;
      insert into units (id, node_id, gate_id, class, index, placement, parent_unit_id, healthy, removed)
       select n.id, u.node_id, u.gate_id, 'gpu.mig', 0, 4, u.id, true, false
         from units u, (values ('unit_one'), ('unit_two')) n (id) where u.id = $spareUnit`,
    invariant: "I1",
    names: ["unit_one", "unit_two"],
  },
  {
    what: "a part of a GPU that is not shared out",
    sql: `update units set parent_unit_id = $spareUnit where id = $runningUnit`,
    invariant: "I1",
    names: ["runningUnit", "spareUnit"],
  },
  {
    what: "a whole node beyond the quota of nodes",
    sql: `update reservations set binding = 'node' where id = $running;
      insert into quotas (pool_id, tenant_id, resource, max, used, used_at)
       values ($pool, 't-a', 'node', 0, 1, 0)`,
    invariant: "I2",
    names: ["pool"],
  },
  {
    what: "a quota below what is in use",
    sql: `update quotas set max = 1 where pool_id = $pool and tenant_id = 't-a'`,
    invariant: "I2",
    names: ["pool"],
  },
  {
    what: "a quota row that is gone",
    sql: `delete from quotas where pool_id = $pool and tenant_id = 't-b'`,
    invariant: "I2",
    names: ["pool"],
  },
  {
    what: "a counter of quota use that drifted",
    sql: `update quotas set used = used + 1 where pool_id = $pool and tenant_id = 't-a'`,
    invariant: "I2",
    names: ["pool"],
  },
  {
    what: "a capacity counter that drifted",
    sql: `update rollups set allocated = allocated + 1 where pool_id = $pool and resource = 'gpu'`,
    invariant: "I3",
    names: ["pool"],
  },
  {
    what: "a capacity row that is gone",
    sql: `delete from rollups where pool_id = $pool and resource = 'vcpu'`,
    invariant: "I3",
    names: ["pool"],
  },
  {
    what: "a unit's health changed without its row",
    sql: `update units set healthy = false where id = $runningUnit`,
    invariant: "I3",
    names: ["pool"],
  },
  {
    what: "a shared GPU that is broken while its parts are counted as sound",
    sql: `insert into units (id, node_id, gate_id, class, index, healthy, removed, carrier)
       select 'unit_broken', u.node_id, u.gate_id, 'gpu', 99, false, false, true
         from units u where u.id = $runningUnit;
      update units set parent_unit_id = 'unit_broken' where id = $runningUnit`,
    invariant: "I3",
    names: ["pool"],
  },
  {
    what: "reserved scalars that drifted",
    sql: `update rollups set reserved = 0 where pool_id = $pool and resource = 'memoryGiB'`,
    invariant: "I3",
    names: ["pool"],
  },
  {
    what: "a booking row that is gone",
    sql: `delete from bookings b using units u
       where u.key = b.unit_key and b.reservation_id = $running and u.id = $runningUnit`,
    invariant: "I4",
    names: ["running", "runningUnit"],
  },
  {
    what: "a member with a unit less than was asked for",
    sql: `update reservations set members = members #- '{0,unitIds,0}' where id = $running`,
    invariant: "I4",
    names: ["running"],
  },
  {
    what: "a booking row that covers less than its window",
    sql: `update bookings set during = int8range(lower(during), upper(during) - 1000)
       where reservation_id = $later`,
    invariant: "I4",
    names: ["later", "laterUnit"],
  },
  {
    what: "booking rows without their reservation",
    sql: `delete from reservations where id = $later`,
    invariant: "I4",
    names: ["later", "laterUnit"],
  },
  {
    what: "an ended reservation that still holds its units",
    sql: `update bookings set during = int8range(lower(during), upper(during) + 1)
       where reservation_id = $over`,
    invariant: "I4",
    names: ["over"],
  },
  {
    what: "a gang with a member less than its size",
    sql: `update reservations set gang = '{"size":2}' where id = $running`,
    invariant: "I4",
    names: ["running"],
  },
  {
    what: "a node that one lease takes twice",
    sql: `update reservations set binding = 'node', node_setup = '{}', members = members || members,
       devices = '[{"class":"node","count":2}]' where id = $running`,
    invariant: "I4",
    names: ["running", "node"],
  },
  {
    what: "a booking that has not begun at its start",
    sql: `update reservations set state = 'preempting', started_at = null where id = $running`,
    invariant: "I4",
    names: ["running"],
  },
  {
    what: "a booking row that does not hold what was pinned",
    sql: PIN(0),
    invariant: "I4",
    names: ["later", "laterUnit"],
  },
  {
    what: "a booking row with an empty window",
    sql: `alter table bookings drop constraint bookings_window;
      update bookings set during = 'empty' where reservation_id = $over`,
    invariant: "I1",
    names: ["over"],
  },
  {
    what: "a booking row without an end",
    sql: `alter table bookings drop constraint bookings_window;
      update bookings set during = int8range(lower(during), null) where reservation_id = $later`,
    invariant: "I1",
    names: ["later", "laterUnit"],
  },
  {
    what: "a booking that is live past its end",
    sql: `update gates g set last_at = r."end" from reservations r
       where g.id = r.pool_id and r.id = $running`,
    invariant: "I4",
    names: ["running", "pool"],
  },
  {
    what: "a booking that is live past its lease",
    sql: `update reservations r set lease_seconds = 60, lease_expires_at = g.last_at from gates g
       where g.id = r.pool_id and r.id = $running`,
    invariant: "I4",
    names: ["running", "pool"],
  },
  {
    what: "a pool that waits for nothing while it has bookings",
    sql: `update pool_due set next_at = null where gate_id = $pool`,
    invariant: "I4",
    names: ["running", "pool"],
  },
  {
    what: "a pool that would be woken after a start",
    sql: `update pool_due set next_at = next_at + 7200000 where gate_id = $pool`,
    invariant: "I4",
    names: ["later", "pool"],
  },
  {
    what: "quota rows of a pool that does not exist",
    sql: `update quotas set pool_id = 'pool_gone' where pool_id = $spare`,
    invariant: "I4",
    names: ["quotas", "pool_gone"],
  },
  {
    what: "an offer that nobody is let in by",
    sql: `delete from pool_authz where pool_id = $pool and tenant_id = 't-c'`,
    invariant: "I4",
    names: ["offers"],
  },
  {
    what: "units without their node",
    sql: `delete from nodes where id = $node`,
    invariant: "I4",
    names: ["units", "node"],
  },
  {
    what: "booking rows of a unit that does not exist",
    sql: `delete from units where id = $runningUnit`,
    invariant: "I4",
    names: ["bookings"],
  },
];
