/**
 * What unit reservations keep from a request. A term counts when it overlaps the window: while it needs a
 * review its units are nobody's; a unit that was released is on the spot market, for everyone and for
 * nothing else; any other is for the tenants of the audience.
 */
import type { UnitId } from "../ids.ts";
import type { DeviceLine, PlaceRequest } from "../model.ts";
import type { SeenNode, Term } from "../state/node-entry.ts";
import type { PoolView } from "../state/pool-view.ts";

/** For whom. */
export type Asker = Pick<PlaceRequest, "spot" | "tenantId">;

interface Window {
  readonly start: number;
  readonly end: number;
}

/** Whether the term keeps the unit from the asker. */
export function withholds(term: Term, unitId: UnitId, asker: Asker): boolean {
  const { status, allowedOrgIds, releasedUnitIds } = term.reservation;
  if (status === "needs-review") return true;
  if (releasedUnitIds.includes(unitId)) return !asker.spot;
  return !allowedOrgIds.includes(asker.tenantId);
}

/** The terms that keep the unit at this place from the asker at some time. */
function termsAgainst(entry: SeenNode, place: number, asker: Asker): readonly Term[] {
  const terms = entry.terms?.[place] ?? [];
  if (terms.length === 0) return terms;
  const { id } = entry.node.units[place] as SeenNode["node"]["units"][number];
  return terms.filter((term) => withholds(term, id, asker));
}

/** Whether some term in the window keeps the unit at this place from the asker. */
export function isWithheld(
  at: { readonly entry: SeenNode; readonly place: number },
  window: Window,
  asker: Asker,
): boolean {
  return termsAgainst(at.entry, at.place, asker).some((term) => overlaps(term, window));
}

/** The first instant from the window's start on from which the unit is neither booked nor withheld for so long. */
export function nextFree(
  at: { readonly entry: SeenNode; readonly place: number },
  window: Window,
  asker: Asker,
): number {
  const { entry, place } = at;
  const duration = window.end - window.start;
  if (entry.terms === null) return entry.calendar.nextFree(place, window.start, duration);
  const terms = termsAgainst(entry, place, asker);
  let from = entry.calendar.nextFree(place, window.start, duration);
  for (;;) {
    const moved = { start: from, end: from + duration };
    const over = terms
      .filter((term) => overlaps(term, moved))
      .reduce((last, term) => Math.max(last, term.end), from);
    if (over === from || over === Number.POSITIVE_INFINITY) return over;
    from = entry.calendar.nextFree(place, over, duration);
  }
}

/** Start of the first term that withholds the unit at or after `time`; `time` when one is running; Infinity for none. */
export function withheldFrom(
  at: { readonly entry: SeenNode; readonly place: number },
  time: number,
  asker: Asker,
): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { start, end } of termsAgainst(at.entry, at.place, asker)) {
    if (end > time) first = Math.min(first, Math.max(time, start));
  }
  return first;
}

/**
 * The request as it reads for a tenant that must not learn of withheld units: a line that names one names
 * nothing there. What is on the spot market is no secret.
 */
export function withoutHidden(state: PoolView, request: PlaceRequest): PlaceRequest {
  if (!request.devices.some((line) => line.selector?.unitIds)) return request;
  return { ...request, devices: request.devices.map((line) => known(state, request, line)) };
}

function known(state: PoolView, request: PlaceRequest, line: DeviceLine): DeviceLine {
  const { selector } = line;
  if (!selector?.unitIds) return line;
  const unitIds = selector.unitIds.filter((id) => {
    const found = state.place(id);
    const terms = found?.entry.terms?.[found.unit] ?? [];
    return !terms.some((term) => overlaps(term, request) && hides(term, id, request));
  });
  return { ...line, selector: { ...selector, unitIds } };
}

function hides({ reservation }: Term, unitId: UnitId, asker: Asker): boolean {
  if (reservation.allowedOrgIds.includes(asker.tenantId)) return false;
  return reservation.status === "needs-review" || !reservation.releasedUnitIds.includes(unitId);
}

function overlaps(term: Term, window: Window): boolean {
  return term.start < window.end && term.end > window.start;
}
