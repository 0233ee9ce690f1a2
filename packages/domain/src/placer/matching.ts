/**
 * Units to lines, exactly. Each unit may serve some of a request's lines (a bit a line), each line wants
 * a number of units, each unit serves once.
 */

/** Room for the units of one node: which lines each may serve, and its NVLink domain. */
export class UnitList {
  size = 0;
  /** How many of them the score counts. */
  scored = 0;
  readonly places: number[] = [];
  readonly masks: number[] = [];
  readonly domains: number[] = [];

  clear(): void {
    this.size = 0;
    this.scored = 0;
  }

  push(place: number, mask: number, domain: number): void {
    this.places[this.size] = place;
    this.masks[this.size] = mask;
    this.domains[this.size] = domain;
    this.size += 1;
  }
}

/** What the lines want: units a line, and the sets of lines whose units must share an NVLink domain. */
export interface Demand {
  readonly lines: readonly number[];
  /** By set of lines (as bits): the units that they want together. */
  readonly bySet: readonly number[];
  /** Sets of lines, disjoint. */
  readonly groups: readonly number[];
}

export function demandOf(lines: readonly number[], groups: readonly number[]): Demand {
  const bySet = [0];
  for (let set = 1; set < 1 << lines.length; set += 1) {
    const lowest = 31 - Math.clz32(set & -set);
    bySet.push((bySet[set & (set - 1)] as number) + (lines[lowest] as number));
  }
  return { lines, bySet, groups };
}

/** By set of lines, units that may serve those lines and no other; scratch of `enough` and `timesOver`. */
const within = new Int32Array(256);

/**
 * Hall's theorem: every line can be served exactly when no set of lines wants more units than may serve
 * any of it. At most eight lines, so at most 256 sets.
 * @param masks by unit, the lines that it may serve
 */
export function enough(demand: Demand, masks: readonly number[], size: number): boolean {
  const sets = demand.bySet.length;
  if (sets === 2) {
    let able = 0;
    for (let i = 0; i < size; i += 1) able += masks[i] as number;
    return able >= (demand.lines[0] as number);
  }
  countWithin(sets, masks, size);
  for (let set = 1; set < sets; set += 1) {
    const able = size - (within[sets - 1 - set] as number);
    if (able < (demand.bySet[set] as number)) return false;
  }
  return true;
}

/** How many times over all lines can be served, domains aside: as `enough`, with every want multiplied. */
export function timesOver(demand: Demand, masks: readonly number[], size: number): number {
  const sets = demand.bySet.length;
  countWithin(sets, masks, size);
  let times = Number.POSITIVE_INFINITY;
  for (let set = 1; set < sets; set += 1) {
    const able = size - (within[sets - 1 - set] as number);
    times = Math.min(times, Math.floor(able / (demand.bySet[set] as number)));
  }
  return times;
}

/** Fills `within`. */
function countWithin(sets: number, masks: readonly number[], size: number): void {
  within.fill(0, 0, sets);
  for (let i = 0; i < size; i += 1) within[masks[i] as number]! += 1;
  // From "exactly these lines" to "these lines at most".
  for (let bit = 1; bit < sets; bit <<= 1) {
    for (let set = 0; set < sets; set += 1) {
      if (set & bit) within[set]! += within[set ^ bit] as number;
    }
  }
}

/** Backtracking steps over domains that the searches of one call may take together: some 50 ms. */
export const SEARCH_STEPS = 3_000;

/** What the searches of one call share. */
export interface Search {
  stepsLeft: number;
  /** By what the free units look like: whether the groups can be seated. */
  readonly known: Map<string, boolean>;
  /** Likewise: how many members of a gang can be seated. */
  readonly most: Map<string, number>;
}

export function newSearch(): Search {
  return {
    stepsLeft: SEARCH_STEPS,
    known: new Map<string, boolean>(),
    most: new Map<string, number>(),
  };
}

/**
 * Whether each group finds an NVLink domain so that every line can still be served, for units that are
 * `enough`. Nodes whose free units look alike are searched once a call.
 */
export function canSeat(demand: Demand, units: UnitList, search: Search): boolean {
  if (demand.groups.length === 0) return true;
  if (demand.lines.length === 1) return hasRoom(demand, units);
  const look = looksOf(units);
  let seated = search.known.get(look);
  if (seated === undefined) {
    seated = seatGroups(demand, units, search) !== null;
    search.known.set(look, seated);
  }
  return seated;
}

/** Units by domain; scratch of `hasRoom`. */
const roomOf = new Map<number, number>();

/** Nearly every linked request has one line: any domain with room will do. */
function hasRoom(demand: Demand, units: UnitList): boolean {
  const wanted = demand.lines[0] as number;
  roomOf.clear();
  for (let i = 0; i < units.size; i += 1) {
    const domain = units.domains[i] as number;
    if (domain < 0 || units.masks[i] === 0) continue;
    const room = (roomOf.get(domain) ?? 0) + 1;
    if (room >= wanted) return true;
    roomOf.set(domain, room);
  }
  return false;
}

/**
 * Picks a domain for each group, tightest first. Exact by backtracking, with domains that look alike tried
 * once; out of steps counts as impossible.
 * @returns the units' masks under that choice, or null
 */
export function seatGroups(
  demand: Demand,
  units: UnitList,
  search: Pick<Search, "stepsLeft">,
): readonly number[] | null {
  return seat(0, units.masks.slice(0, units.size));

  function seat(group: number, open: readonly number[]): readonly number[] | null {
    const lines = demand.groups[group];
    if (lines === undefined) return enough(demand, open, units.size) ? open : null;
    const wanted = demand.bySet[lines] as number;
    for (const domain of domainsByRoom(open, { units, lines, wanted })) {
      if (search.stepsLeft <= 0) return null;
      search.stepsLeft -= 1;
      const kept = open.map((mask, i) => (units.domains[i] === domain ? mask : mask & ~lines));
      if (!enough(demand, kept, units.size)) continue;
      const seated = seat(group + 1, kept);
      if (seated) return seated;
    }
    return null;
  }
}

/** The masks of each domain's units, in an order of their own. */
export function masksByDomain(masks: readonly number[], units: UnitList): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (let i = 0; i < units.size; i += 1) {
    const domain = units.domains[i] as number;
    const list = found.get(domain);
    if (list) list.push(masks[i] as number);
    else found.set(domain, [masks[i] as number]);
  }
  for (const list of found.values()) list.sort((a, b) => a - b);
  return found;
}

/** The same text for units among which exactly the same choices exist. */
export function looksOf(units: UnitList): string {
  const found = masksByDomain(units.masks, units);
  const outside = found.get(-1) ?? [];
  found.delete(-1);
  return `${[...found.values()]
    .map((list) => list.join())
    .sort()
    .join("|")}/${outside.join()}`;
}

/** Domains with room for the group, least room first; of those that look alike only the first. */
function domainsByRoom(
  masks: readonly number[],
  group: { readonly units: UnitList; readonly lines: number; readonly wanted: number },
): number[] {
  const { units, lines, wanted } = group;
  const looks = new Set<string>();
  const able = (list: readonly number[]): number => list.filter((mask) => mask & lines).length;
  return [...masksByDomain(masks, units)]
    .map(([domain, list]) => ({ domain, room: able(list), look: list.join() }))
    .filter(({ domain, room }) => domain >= 0 && room >= wanted)
    .sort(
      (a, b) =>
        a.room - b.room || (a.look < b.look ? -1 : a.look > b.look ? 1 : a.domain - b.domain),
    )
    .filter(({ look }) => !looks.has(look) && looks.add(look))
    .map(({ domain }) => domain);
}
