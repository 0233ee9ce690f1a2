/** Which of a node's free units a booking takes. */
import type { UnitId } from "../ids.ts";
import type { Unit } from "../model.ts";
import { invariant } from "../refusal.ts";
import type { SeenNode } from "../state/node-entry.ts";
import { freeUnits } from "./fit.ts";
import type { Window } from "./fit.ts";
import { newSearch, seatGroups } from "./matching.ts";
import type { Demand, UnitList } from "./matching.ts";
import { seatMembers, slotsOf } from "./members.ts";
import type { Seats } from "./members.ts";
import { fitOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { preference } from "./preference.ts";
import { suits } from "./serve.ts";
import type { Slot } from "./serve.ts";
import { takeUnits } from "./take.ts";

/** The units for the request on a node that fits it, in the node's order. */
export function chooseUnits(plan: Plan, entry: SeenNode, window: Window): UnitId[] {
  const fit = fitOf(plan, entry);
  const free = freeUnits({ plan, entry, fit }, window);
  const masks = seatGroups(fit.demand, free, newSearch());
  const able = (masks ?? []).map((mask) =>
    fit.demand.lines.map((_, i) => i).filter((i) => mask & (1 << i)),
  );
  const taken =
    masks &&
    takeUnits(fit.demand.lines, able, preference(free, { entry, window, policy: plan.policy }));
  invariant(taken, `node ${entry.node.id} fits the request and has no units for it`);
  return unitIdsOf(entry, [...taken.keys()], free);
}

/** The same for several members at once, a list for each. */
export function chooseMembers(
  at: { readonly plan: Plan; readonly entry: SeenNode },
  window: Window,
  members: number,
): UnitId[][] {
  const { plan, entry } = at;
  if (members === 1) return [chooseUnits(plan, entry, window)];
  const fit = fitOf(plan, entry);
  const free = freeUnits({ plan, entry, fit }, window);
  const seats = seatMembers(fit.demand, free, { members, search: newSearch() });
  const slots = slotsOf(fit.demand, seats ?? [], members);
  const able = Array.from({ length: free.size }, (_, i) => {
    const unit = { mask: free.masks[i] as number, domain: free.domains[i] as number };
    return [...slots.keys()].filter((slot) => suits(unit, slots[slot] as Slot));
  });
  const order = preference(free, { entry, window, policy: plan.policy });
  const wanted = slots.map((slot) => slot.wanted);
  const taken = seats && takeUnits(wanted, able, order);
  invariant(taken, `node ${entry.node.id} fits ${members} members and has no units for them`);
  const bySlot = slots.map((_, slot) => order.filter((unit) => taken.get(unit) === slot));
  return deal({ demand: fit.demand, seats, members }, slots, bySlot).map((units) =>
    unitIdsOf(entry, units, free),
  );
}

/** Shares the units out to the members: to each of a group's seats in a domain what its lines want there. */
function deal(
  about: { readonly demand: Demand; readonly seats: Seats; readonly members: number },
  slots: readonly Slot[],
  bySlot: readonly number[][],
): number[][] {
  const { demand, seats, members } = about;
  const seatsOf = seats.map((own) =>
    [...own].flatMap(([domain, count]) => Array.from({ length: count }, () => domain)),
  );
  return Array.from({ length: members }, (_, member) =>
    demand.lines.flatMap((count, line) => {
      const group = demand.groups.findIndex((lines) => lines & (1 << line));
      const domain = seatsOf[group]?.[member] ?? null;
      const slot = slots.findIndex((one) => one.line === line && one.domain === domain);
      return (bySlot[slot] ?? []).splice(0, count);
    }),
  );
}

function unitIdsOf(entry: SeenNode, taken: readonly number[], free: UnitList): UnitId[] {
  return taken
    .map((i) => free.places[i] as number)
    .sort((a, b) => a - b)
    .map((place) => (entry.node.units[place] as Unit).id);
}
