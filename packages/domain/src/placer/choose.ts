/** Which of a node's free units a booking takes. */
import type { UnitId } from "../ids.ts";
import { invariant } from "../refusal.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import { freeUnits } from "./fit.ts";
import type { Window } from "./fit.ts";
import { newSearch, seatGroups, takeUnits } from "./matching.ts";
import type { UnitList } from "./matching.ts";
import { fitOf } from "./plan.ts";
import type { Plan } from "./plan.ts";

/**
 * The units for the request on a node that fits it, in the node's order. Taken first: units outside any
 * NVLink domain, then of the domain with the fewest free, so that whole domains stay whole; among
 * those the ones whose free gap around the window is shortest, so that long gaps stay long.
 */
export function chooseUnits(plan: Plan, entry: NodeEntry, window: Window): UnitId[] {
  const free = freeUnits({ plan, entry, fit: fitOf(plan, entry) }, window);
  const masks = seatGroups(plan.demand, free, newSearch());
  const taken = masks && takeUnits(plan.demand, masks, preference(free, entry, window.start));
  invariant(taken, `node ${entry.node.id} fits the request and has no units for it`);
  return taken
    .map((i) => free.places[i] as number)
    .sort((a, b) => a - b)
    .map((place) => (entry.node.units[place] as NodeEntry["node"]["units"][number]).id);
}

/** Positions in the list, best first. */
function preference(free: UnitList, entry: NodeEntry, start: number): number[] {
  const inDomain = new Map<number, number>();
  for (let i = 0; i < free.size; i += 1) {
    const domain = free.domains[i] as number;
    if (domain >= 0) inDomain.set(domain, (inDomain.get(domain) ?? 0) + 1);
  }
  const keys = Array.from({ length: free.size }, (_, i) => {
    const domain = free.domains[i] as number;
    const place = free.places[i] as number;
    const gap = entry.calendar.gapAround(place, start);
    return { i, room: inDomain.get(domain) ?? 0, domain, gap, place };
  });
  keys.sort(
    (a, b) =>
      a.room - b.room ||
      a.domain - b.domain ||
      (a.gap === b.gap ? 0 : a.gap - b.gap) ||
      a.place - b.place,
  );
  return keys.map(({ i }) => i);
}
