/** I1: two bookings of one unit never overlap, neither as booking rows nor as the members of reservations. */
import { instant, type Check, type Query, type Violation } from "./query.ts";
import { liveReservations } from "./rows.ts";
import { groupBy } from "./sweep.ts";

interface Overlap {
  readonly unit: string;
  readonly first: string;
  readonly second: string;
  readonly start: number;
  readonly end: number;
}

const violation = (overlap: Overlap, where: string): Violation => ({
  invariant: "I1",
  ids: [overlap.unit, overlap.first, overlap.second],
  message:
    `${overlap.unit} is booked twice from ${instant(overlap.start)} to ${instant(overlap.end)}, ` +
    `by ${overlap.first} and ${overlap.second} (${where})`,
});

function overlappingRows(query: Query): Promise<readonly Overlap[]> {
  return query<Overlap>(
    `select coalesce(u.id, a.unit_key::text) as unit, a.reservation_id as first,
            b.reservation_id as second, lower(a.during * b.during)::float8 as start,
            upper(a.during * b.during)::float8 as "end"
       from bookings a
       join bookings b on a.unit_key = b.unit_key and a.during && b.during
                      and (a.reservation_id, a.ctid) < (b.reservation_id, b.ctid)
       left join units u on u.key = a.unit_key
      order by 1, 2, 3`,
  );
}

/** Members tell the same story as booking rows, from another table. */
async function overlappingMembers(query: Query): Promise<readonly Overlap[]> {
  const held = (await liveReservations(query)).flatMap((reservation) =>
    reservation.members.flatMap((member) => member.unitIds.map((unit) => ({ unit, reservation }))),
  );
  const found: Overlap[] = [];
  for (const [unit, group] of groupBy(held, (item) => item.unit)) {
    const inOrder = group.map((item) => item.reservation).toSorted((a, b) => a.start - b.start);
    let last = inOrder[0];
    for (const next of inOrder.slice(1)) {
      if (last && next.start < last.end) {
        const end = Math.min(last.end, next.end);
        found.push({ unit, first: last.id, second: next.id, start: next.start, end });
      }
      if (!last || next.end > last.end) last = next;
    }
  }
  return found;
}

export const overlap: Check = {
  invariant: "I1",
  title: "no unit is booked twice at one time",
  async run(query) {
    const rows = await overlappingRows(query);
    const members = await overlappingMembers(query);
    return [
      ...rows.map((found) => violation(found, "booking rows")),
      ...members.map((found) => violation(found, "members")),
    ];
  },
};
