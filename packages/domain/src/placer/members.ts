/**
 * How many members of a gang one node takes, exactly. Members want the same, so what has to be chosen is only
 * how many of them use each NVLink domain for each set of lines that must share one. Mostly no choice is
 * left: without such sets it is Hall's theorem once more, and when each set has units of its own every
 * domain is filled for itself. The rest is a search over those counts, within the call's budget of steps.
 */
import { looksOf, masksByDomain, timesOver } from "./matching.ts";
import type { Demand, Search, UnitList } from "./matching.ts";
import { canServe } from "./serve.ts";
import type { Kind, Slot } from "./serve.ts";

/** By group of lines: how many members use each domain. */
export type Seats = readonly ReadonlyMap<number, number>[];

/**
 * For units that take one member at least.
 * @param most more than these are not asked for
 */
export function membersMost(
  demand: Demand,
  units: UnitList,
  ask: { readonly most: number; readonly search: Search },
): number {
  const { most, search } = ask;
  const { groups } = demand;
  let bound = Math.min(most, timesOver(demand, units.masks, units.size));
  if (bound <= 1 || groups.length === 0) return bound;
  for (const lines of groups) {
    let room = 0;
    for (const { masks } of domainsOf(units)) room += fills(demand, lines, masks);
    bound = Math.min(bound, room);
  }
  if (bound <= 1 || areApart(groups, units)) return Math.max(1, bound);
  const look = `${most}:${looksOf(units)}`;
  const known = search.most.get(look);
  if (known !== undefined) return known;
  const found = searchMost(demand, units, { most: bound, search });
  search.most.set(look, found);
  return found;
}

/** What fits for so many fits for fewer, so the most is between the last that did and the first that did not. */
function searchMost(
  demand: Demand,
  units: UnitList,
  { most, search }: { readonly most: number; readonly search: Search },
): number {
  if (seatMembers(demand, units, { members: most, search })) return most;
  let fits = 1;
  let fails = most;
  while (fails - fits > 1) {
    const members = (fits + fails) >> 1;
    if (seatMembers(demand, units, { members, search })) fits = members;
    else fails = members;
  }
  return fits;
}

interface Domain {
  readonly domain: number;
  readonly masks: readonly number[];
  readonly look: string;
}

function domainsOf(units: UnitList): Domain[] {
  return [...masksByDomain(units.masks, units)]
    .filter(([domain]) => domain >= 0)
    .map(([domain, masks]) => ({ domain, masks, look: masks.join() }));
}

/** How many members these units serve with a group's lines, were they for these lines alone. */
function fills(demand: Demand, lines: number, masks: readonly number[]): number {
  let times = Number.POSITIVE_INFINITY;
  for (let set = lines; set > 0; set = (set - 1) & lines) {
    let able = 0;
    for (const mask of masks) if (mask & set) able += 1;
    times = Math.min(times, Math.floor(able / (demand.bySet[set] as number)));
  }
  return times;
}

/** Whether no unit may serve two groups, or a group and a line outside: then no choice takes from another. */
function areApart(groups: readonly number[], units: UnitList): boolean {
  for (let i = 0; i < units.size; i += 1) {
    const mask = units.masks[i] as number;
    for (const lines of groups) if (mask & lines && mask & ~lines) return false;
  }
  return true;
}

/**
 * A choice of domains for so many members; null when there is none, or when the steps are used up. Tight
 * domains come first and are filled as far as they go; every partial choice has to be servable with what is
 * still open taken from anywhere.
 */
export function seatMembers(
  demand: Demand,
  units: UnitList,
  ask: { readonly members: number; readonly search: Pick<Search, "stepsLeft"> },
): Seats | null {
  if (demand.groups.length === 0) return [];
  const kinds = kindsOf(units);
  const domains = domainsOf(units).sort(
    (a, b) =>
      a.masks.length - b.masks.length ||
      (a.look < b.look ? -1 : a.look > b.look ? 1 : a.domain - b.domain),
  );
  const seats = demand.groups.map(() => new Map<number, number>());
  return seat(0, 0, ask.members) ? seats : null;

  function seat(group: number, at: number, left: number): boolean {
    if (left === 0) return group + 1 >= seats.length || seat(group + 1, 0, ask.members);
    const here = domains[at];
    if (!here) return false;
    const own = seats[group] as Map<number, number>;
    const most = Math.min(left, mostHere(group, at), twinsMost(group, at));
    for (let members = most; members >= 0; members -= 1) {
      if (ask.search.stepsLeft <= 0) break;
      ask.search.stepsLeft -= 1;
      own.set(here.domain, members);
      const open = members === 0 || canServe(kinds, slotsOf(demand, seats, ask.members));
      if (open && seat(group, at + 1, left - members)) return true;
    }
    own.delete(here.domain);
    return false;
  }

  function mostHere(group: number, at: number): number {
    return fills(demand, demand.groups[group] as number, (domains[at] as Domain).masks);
  }

  /** Of domains that look alike, and were used alike by the groups before, a later one gets no more. */
  function twinsMost(group: number, at: number): number {
    const here = domains[at] as Domain;
    const before = domains[at - 1];
    if (before?.look !== here.look) return Number.POSITIVE_INFINITY;
    const alike = seats
      .slice(0, group)
      .every((used) => (used.get(before.domain) ?? 0) === (used.get(here.domain) ?? 0));
    return alike ? (seats[group]?.get(before.domain) ?? 0) : Number.POSITIVE_INFINITY;
  }
}

function kindsOf(units: UnitList): Kind[] {
  const counts = new Map<string, Kind>();
  for (let i = 0; i < units.size; i += 1) {
    const [mask, domain] = [units.masks[i] as number, units.domains[i] as number];
    const count = (counts.get(`${mask}/${domain}`)?.count ?? 0) + 1;
    counts.set(`${mask}/${domain}`, { mask, domain, count });
  }
  return [...counts.values()];
}

/** What the members want: of grouped lines what is seated from its domain, the rest from anywhere. */
export function slotsOf(demand: Demand, seats: Seats, members: number): Slot[] {
  return demand.lines.flatMap((count, line) => {
    const group = demand.groups.findIndex((lines) => lines & (1 << line));
    const own = [...(seats[group] ?? [])].filter(([, seated]) => seated > 0);
    const seated = own.reduce((sum, [, one]) => sum + one, 0);
    const slots: Slot[] = own.map(([domain, one]) => ({ line, domain, wanted: one * count }));
    const open = (members - seated) * count;
    return open > 0 ? [...slots, { line, domain: null, wanted: open }] : slots;
  });
}
