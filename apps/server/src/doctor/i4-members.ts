/** I4: a reservation has all its members or does not exist: request, members and booking rows agree. */
import { instant, LIVE, type Check, type Query, type Violation } from "./query.ts";
import {
  type MemberRow,
  type ReservationRow,
  type UnitRow,
  appliedUntil,
  heldFrom,
  liveReservations,
  units,
} from "./rows.ts";
import { strays } from "./strays.ts";
import { groupBy } from "./sweep.ts";

interface BookingRow {
  readonly reservationId: string;
  readonly poolId: string;
  readonly unit: string;
  readonly start: number;
  readonly end: number;
}

const violation = (ids: readonly string[], message: string): Violation => ({
  invariant: "I4",
  ids,
  message,
});

function count(items: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

type Units = ReadonlyMap<string, UnitRow>;

/** Members against what was asked: as many of them, on their own nodes, each with all it asked for. */
function asked(reservation: ReservationRow, unitOf: Units): Violation[] {
  const { id, members } = reservation;
  const wanted = membersOf(reservation);
  if (members.length === 0) return [violation([id], `${id} is live without a member`)];
  return [
    ...(members.length === wanted
      ? []
      : [violation([id], `${id} is to have ${wanted} members; it has ${members.length}`)]),
    ...members.flatMap((member) => [
      ...(reservation.binding === "node" ? [] : wrongUnits(reservation, member, unitOf)),
      ...member.unitIds
        .filter((unit) => unitOf.get(unit)?.nodeId !== member.nodeId)
        .map((unit) =>
          violation([id, unit], `${id} holds ${unit}, which is not on its node ${member.nodeId}`),
        ),
    ]),
    ...(reservation.binding === "node" ? wholeNodes(reservation) : []),
  ];
}

/** One a member of a gang, each of whole nodes as many as it asks for. */
function membersOf({ gang, binding, devices }: ReservationRow): number {
  const nodes = devices.filter((line) => line.class === "node").reduce((n, l) => n + l.count, 0);
  return (gang?.size ?? 1) * (binding === "node" ? nodes : 1);
}

function wrongUnits({ id, devices }: ReservationRow, member: MemberRow, unitOf: Units) {
  const held = count(member.unitIds.map((unit) => unitOf.get(unit)?.class ?? "unknown"));
  const wanted = count(devices.flatMap((line) => Array<string>(line.count).fill(line.class)));
  const classes = [...new Set([...held.keys(), ...wanted.keys()])].toSorted();
  return classes
    .filter((name) => held.get(name) !== wanted.get(name))
    .map((name) =>
      violation(
        [id, member.nodeId],
        `${id} asks for ${wanted.get(name) ?? 0} ${name} a member; ` +
          `member ${member.index} holds ${held.get(name) ?? 0}`,
      ),
    );
}

/** A node is taken once, and set up as its tenant said. */
function wholeNodes({ id, members, nodeSetup }: ReservationRow): Violation[] {
  const taken = count(members.map(({ nodeId }) => nodeId));
  return [
    ...[...taken]
      .filter(([, times]) => times > 1)
      .map(([node, times]) => violation([id, node], `${id} takes ${node} ${times} times`)),
    ...(nodeSetup === null
      ? [violation([id], `${id} leases whole nodes, but not how they are set up`)]
      : []),
  ];
}

/** Whether it has begun is what its pool's time says. */
function begun(reservation: ReservationRow, until: ReadonlyMap<string, number>): Violation[] {
  const { id, poolId, start, startedAt, pins } = reservation;
  const now = until.get(poolId) ?? 0;
  const told = startedAt !== null;
  return [
    ...(told === start <= now
      ? []
      : [
          violation(
            [id],
            `${id} ${told ? "has" : "has not"} begun, yet it starts at ${instant(start)} and its ` +
              `pool is at ${instant(now)}`,
          ),
        ]),
    ...(told && pins.length > 0
      ? [violation([id], `${id} has begun and still holds what was pinned for it until then`)]
      : []),
  ];
}

/** Members against booking rows: the same units, each for the whole window and what was pinned before it. */
function booked(reservation: ReservationRow, rows: readonly BookingRow[]): Violation[] {
  const { id, end, poolId } = reservation;
  const members = new Set(reservation.members.flatMap((member) => member.unitIds));
  const byUnit = groupBy(rows, (row) => row.unit);
  const missing = [...members].filter((unit) => !byUnit.has(unit));
  const extra = [...byUnit.keys()].filter((unit) => !members.has(unit));
  const skewed = rows.filter(
    (row) => row.start !== heldFrom(reservation, row.unit) || row.end !== end,
  );
  const strayed = rows.filter((row) => row.poolId !== poolId);
  return [
    ...missing.map((unit) =>
      violation([id, unit], `${id} lists ${unit} as a member but has no booking row for it`),
    ),
    ...extra.map((unit) =>
      violation([id, unit], `${id} has a booking row for ${unit}, which is not one of its members`),
    ),
    ...skewed.map((row) =>
      violation(
        [id, row.unit],
        `${id} holds ${row.unit} from ${instant(heldFrom(reservation, row.unit))} to ` +
          `${instant(end)}; its booking row covers ${instant(row.start)} to ${instant(row.end)}`,
      ),
    ),
    ...strayed.map((row) =>
      violation([id, row.unit], `${id} is of ${poolId}; its booking row says ${row.poolId}`),
    ),
  ];
}

function liveBookings(query: Query): Promise<readonly BookingRow[]> {
  return query<BookingRow>(
    `select b.reservation_id as "reservationId", b.pool_id as "poolId",
            coalesce(u.id, b.unit_key::text) as unit, lower(b.during)::float8 as start,
            upper(b.during)::float8 as "end"
       from bookings b join reservations r on r.id = b.reservation_id and r.state in ${LIVE}
       left join units u on u.key = b.unit_key`,
  );
}

function orphans(query: Query): Promise<readonly { id: string; unit: string }[]> {
  return query(
    `select b.reservation_id as id, coalesce(u.id, b.unit_key::text) as unit
       from bookings b left join reservations r on r.id = b.reservation_id
       left join units u on u.key = b.unit_key
      where r.id is null order by 1, 2`,
  );
}

/**
 * What has passed its end, or its lease, by its pool's own time is not live; and the pool is woken when
 * time next does something to it.
 */
async function overdue(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; pool: string; at: number; wrong: string }>(
    `select r.id, r.pool_id as pool, x.at::float8 as at, x.wrong
       from reservations r join gates g on g.id = r.pool_id
       left join pool_due d on d.gate_id = g.id
      cross join lateral (values
        (r."end", 'is live past its end', r."end" <= g.last_at),
        (r.lease_expires_at, 'is live past its lease',
          r.state = 'active' and r.lease_expires_at <= g.last_at),
        (least(r."end", case when r.started_at is null then r.start end),
          'is not what its pool waits for, although time does something to it',
          coalesce(d.next_at > least(r."end", case when r.started_at is null then r.start end), true))
        ) x (at, wrong, holds)
      where r.state in ${LIVE} and x.holds order by 1, 4`,
  );
  return rows.map(({ id, pool, at, wrong }) =>
    violation([id, pool], `${id} of ${pool} ${wrong}: ${instant(at)}`),
  );
}

/** An ended reservation keeps the rows of what it used, cut at its end; one that never began has none. */
async function ended(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; rows: number; units: number; last: number | null }>(
    `select r.id, count(b.unit_key)::int4 as rows, max(upper(b.during))::float8 as last,
            case when r.ended_at > r.start then (
              select coalesce(sum(jsonb_array_length(m -> 'unitIds')), 0)
                from jsonb_array_elements(r.members) m) else 0 end::int4 as units
       from reservations r left join bookings b on b.reservation_id = r.id
      where r.state not in ${LIVE}
      group by r.id
     having r.ended_at is null or coalesce(max(upper(b.during)) > least(r.ended_at, r."end"), false)
         or count(b.unit_key) <> case when r.ended_at > r.start then (
              select coalesce(sum(jsonb_array_length(m -> 'unitIds')), 0)
                from jsonb_array_elements(r.members) m) else 0 end
      order by r.id`,
  );
  return rows.map((row) =>
    violation(
      [row.id],
      `${row.id} has ended and used ${row.units} units; it keeps ${row.rows} booking rows` +
        (row.last === null ? "" : `, the last until ${instant(row.last)}`),
    ),
  );
}

export const members: Check = {
  invariant: "I4",
  title: "every reservation has all its members, and only those",
  async run(query) {
    const unitOf = new Map((await units(query)).map((unit) => [unit.id, unit]));
    const rowsOf = groupBy(await liveBookings(query), (row) => row.reservationId);
    const live = await liveReservations(query);
    const until = await appliedUntil(query);
    return [
      ...live.flatMap((reservation) => [
        ...asked(reservation, unitOf),
        ...begun(reservation, until),
        ...booked(reservation, rowsOf.get(reservation.id) ?? []),
      ]),
      ...(await overdue(query)),
      ...(await ended(query)),
      ...(await orphans(query)).map(({ id, unit }) =>
        violation([id, unit], `there is a booking row of ${unit} for ${id}, which does not exist`),
      ),
      ...(await strays(query)),
    ];
  },
};
