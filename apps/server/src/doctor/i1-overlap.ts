/**
 * I1: two bookings of one unit never overlap, neither as booking rows nor as the members of reservations;
 * and what lies on one GPU is told apart: a GPU that carries others is not booked itself, and its parts
 * are on it, each in a place of its own.
 */
import { LIVE, instant, type Check, type Query, type Violation } from "./query.ts";
import { type UnitRow, heldFrom, liveReservations, units } from "./rows.ts";
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

/** In a form that no index can answer: a broken one is what nobody else would notice. */
function overlappingRows(query: Query): Promise<readonly Overlap[]> {
  return query<Overlap>(
    `select coalesce(u.id, a.unit_key::text) as unit, a.reservation_id as first,
            b.reservation_id as second,
            greatest(lower(a.during), lower(b.during))::float8 as start,
            least(upper(a.during), upper(b.during))::float8 as "end"
       from bookings a
       join bookings b on a.unit_key + 0 = b.unit_key + 0
                      and lower(a.during) < upper(b.during) and lower(b.during) < upper(a.during)
                      and (a.reservation_id, a.ctid) < (b.reservation_id, b.ctid)
       left join units u on u.key = a.unit_key
      order by 1, 2, 3`,
  );
}

/** Nothing overlaps an empty window, and nothing ends one without an end. */
async function windows(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ id: string; unit: string; during: string }>(
    `select w.id, coalesce(u.id, w.unit_key::text) as unit, w.during::text as during
       from (select reservation_id as id, unit_key, during, true as ends from bookings
             union all select unit_reservation_id, unit_key, during, false from unit_terms) w
       left join units u on u.key = w.unit_key
      where isempty(w.during) or lower(w.during) is null or w.ends and upper(w.during) is null
      order by 1, 2`,
  );
  return rows.map(({ id, unit, during }) => ({
    invariant: "I1",
    ids: [id, unit],
    message: `${id} holds ${unit} for the window ${during}, which is empty or without a bound`,
  }));
}

/** Members tell the same story as booking rows, from another table. */
async function overlappingMembers(query: Query): Promise<readonly Overlap[]> {
  const held = (await liveReservations(query)).flatMap((reservation) =>
    reservation.members.flatMap((member) =>
      member.unitIds.map((unit) => {
        const { id, end } = reservation;
        return { unit, id, start: heldFrom(reservation, unit), end };
      }),
    ),
  );
  const found: Overlap[] = [];
  for (const [unit, group] of groupBy(held, (item) => item.unit)) {
    const inOrder = group.toSorted((a, b) => a.start - b.start);
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

/** Units of shared GPUs: bookable ones have their carrier, and no two instances one place on it. */
function shared(all: readonly UnitRow[]): Violation[] {
  const there = all.filter((unit) => !unit.gone);
  const carriers = new Map(there.filter(({ carrier }) => carrier).map((unit) => [unit.id, unit]));
  const parts = there.filter(({ parentUnitId }) => parentUnitId !== null);
  const lost = parts.filter(
    ({ parentUnitId, nodeId }) => carriers.get(parentUnitId ?? "")?.nodeId !== nodeId,
  );
  const placed = parts.filter(({ placement, removed }) => placement !== null && !removed);
  const twins = [...groupBy(placed, (unit) => `${unit.parentUnitId} ${unit.placement}`).values()];
  return [
    ...lost.map(({ id, parentUnitId }) => ({
      invariant: "I1" as const,
      ids: [id, parentUnitId ?? ""],
      message: `${id} is a part of ${parentUnitId}, which is no GPU that its node shares out`,
    })),
    ...twins
      .filter((group) => group.length > 1)
      .map((group) => ({
        invariant: "I1" as const,
        ids: group.map(({ id }) => id),
        message:
          `${group.map(({ id }) => id).join(" and ")} have one place on ${group[0]?.parentUnitId}: ` +
          `what is booked on one is booked on the other`,
      })),
  ];
}

async function bookedCarriers(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ unit: string; id: string }>(
    `select u.id as unit, r.id from bookings b
       join reservations r on r.id = b.reservation_id and r.state in ${LIVE}
       join units u on u.key = b.unit_key and u.carrier order by 1, 2`,
  );
  return rows.map(({ unit, id }) => ({
    invariant: "I1",
    ids: [unit, id],
    message: `${id} holds ${unit}, a GPU that is shared out: its parts are booked beside it`,
  }));
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
      ...shared(await units(query)),
      ...(await bookedCarriers(query)),
      ...(await windows(query)),
    ];
  },
};
