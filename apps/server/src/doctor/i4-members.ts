/** I4: a reservation has all its members or does not exist: request, members and booking rows agree. */
import { instant, LIVE, type Check, type Query, type Violation } from "./query.ts";
import { liveReservations, units, type ReservationRow, type UnitRow } from "./rows.ts";
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

/** Members against what was asked: as many units of each class as the device lines add up to. */
function asked(reservation: ReservationRow, unitOf: ReadonlyMap<string, UnitRow>): Violation[] {
  const { id } = reservation;
  if (reservation.members.length === 0) return [violation([id], `${id} is live without a member`)];
  if (reservation.binding === "node") return [];
  return reservation.members.flatMap((member) => {
    const held = count(member.unitIds.map((unit) => unitOf.get(unit)?.class ?? "unknown"));
    const wanted = count(
      reservation.devices.flatMap((line) => Array<string>(line.count).fill(line.class)),
    );
    const classes = [...new Set([...held.keys(), ...wanted.keys()])].toSorted();
    const wrong = classes.filter((name) => held.get(name) !== wanted.get(name));
    const elsewhere = member.unitIds.filter((u) => unitOf.get(u)?.nodeId !== member.nodeId);
    return [
      ...wrong.map((name) =>
        violation(
          [id, member.nodeId],
          `${id} asks for ${wanted.get(name) ?? 0} ${name} a member; ` +
            `member ${member.index} holds ${held.get(name) ?? 0}`,
        ),
      ),
      ...elsewhere.map((unit) =>
        violation([id, unit], `${id} holds ${unit}, which is not on its node ${member.nodeId}`),
      ),
    ];
  });
}

/** Members against booking rows: the same units, each for the whole window. */
function booked(reservation: ReservationRow, rows: readonly BookingRow[]): Violation[] {
  const { id, start, end, poolId } = reservation;
  const members = new Set(reservation.members.flatMap((member) => member.unitIds));
  const byUnit = groupBy(rows, (row) => row.unit);
  const missing = [...members].filter((unit) => !byUnit.has(unit));
  const extra = [...byUnit.keys()].filter((unit) => !members.has(unit));
  const skewed = rows.filter((row) => row.start !== start || row.end !== end);
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
        `${id} runs from ${instant(start)} to ${instant(end)}; its booking row of ${row.unit} ` +
          `covers ${instant(row.start)} to ${instant(row.end)}`,
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
    return [
      ...live.flatMap((reservation) => [
        ...asked(reservation, unitOf),
        ...booked(reservation, rowsOf.get(reservation.id) ?? []),
      ]),
      ...(await ended(query)),
      ...(await orphans(query)).map(({ id, unit }) =>
        violation([id, unit], `there is a booking row of ${unit} for ${id}, which does not exist`),
      ),
    ];
  },
};
