/** The fewest spot reservations that have to leave one node, whichever it is, for a request to fit it. */
import type { NodeId, ReservationId } from "../ids.ts";
import type { PlaceRequest, Reservation } from "../model.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import { lastingCause } from "./fit.ts";
import { canSeat, enough } from "./matching.ts";
import { type Plan, fitOf, planOf } from "./plan.ts";
import { isWithheld } from "./withheld.ts";
import type { Victims } from "./victims.ts";

/** Sets of victims that one call looks at on nodes of 8 units, fewer on larger ones: some 50 ms. */
const STEPS_MAX = 20_000;
const UNITS_A_STEP = 8;

/** A node that would take the request if all of its spot reservations left. */
interface Room {
  readonly entry: NodeEntry;
  /** Those on it, the first to go first, as places in the list of the eligible. */
  readonly holders: readonly number[];
  /** Units that are, or could become, free. */
  readonly units: readonly {
    readonly mask: number;
    readonly domain: number;
    /** Places in `holders`. */
    readonly blockers: readonly number[];
  }[];
  /** No set of fewer leaves enough units. */
  readonly atLeast: number;
}

interface Search {
  readonly state: PoolState;
  readonly request: PlaceRequest;
  readonly plan: Plan;
  readonly eligible: readonly Reservation[];
  stepsLeft: number;
  /** Since the last pause. */
  looks: number;
}

/** Looks at a node, or at a set of victims on one, between two pauses. */
const LOOKS_A_PAUSE = 256;

function isTired(search: Search): boolean {
  search.looks += 1;
  if (search.looks < LOOKS_A_PAUSE) return false;
  search.looks = 0;
  return true;
}

/** @param eligible the first to go first */
export function* victimsOnOneNode(
  state: PoolState,
  request: PlaceRequest,
  eligible: readonly Reservation[],
): Generator<void, Victims | null, void> {
  const plan = planOf(state, request);
  const search: Search = { state, request, plan, eligible, stepsLeft: STEPS_MAX, looks: 0 };
  const roomOf = roomFinder(search);
  yield;
  const one = yield* firstAlone(search, roomOf);
  if (one !== null) return { victims: chosen(search, [one]), exact: true };
  const rooms = yield* roomsOf(search, roomOf);
  if (rooms.length === 0) return null;
  const most = Math.max(...rooms.map(({ holders }) => holders.length));
  for (let size = 2; size <= most; size += 1) {
    let best: readonly number[] | null = null;
    for (const room of rooms) {
      if (size < room.atLeast || size > room.holders.length) continue;
      const found = yield* bestOfSize(search, room, size);
      if (found && (!best || isBetter(found, best))) best = found;
    }
    if (best) return { victims: chosen(search, best), exact: search.stepsLeft > 0 };
    if (search.stepsLeft <= 0) break;
  }
  return greedy(search, rooms);
}

function chosen({ eligible }: Search, places: readonly number[]): Reservation[] {
  return places.map((place) => eligible[place] as Reservation);
}

/**
 * Of two sets of one size: the one whose most precious member goes sooner, then the next. Places are in
 * the order in which the eligible go, so this compares the greatest first.
 */
function isBetter(a: readonly number[], b: readonly number[]): boolean {
  for (let i = a.length - 1; i >= 0; i -= 1)
    if (a[i] !== b[i]) return (a[i] as number) < (b[i] as number);
  return false;
}

type RoomFinder = (nodeId: NodeId) => Room | null;

/** Looks at each node once, and at none that nobody asks about. */
function roomFinder(search: Search): RoomFinder {
  const placeOf = new Map(search.eligible.map(({ id }, place) => [id, place]));
  const known = new Map<NodeId, Room | null>();
  return (nodeId) => {
    let room = known.get(nodeId);
    if (room === undefined) {
      const entry = search.state.entry(nodeId);
      room = entry ? roomOn(search, entry, placeOf) : null;
      known.set(nodeId, room);
    }
    return room;
  };
}

function* roomsOf(search: Search, roomOf: RoomFinder): Generator<void, Room[], void> {
  const { eligible } = search;
  const nodes = new Set(eligible.flatMap(({ members }) => members.map(({ nodeId }) => nodeId)));
  const rooms: Room[] = [];
  for (const nodeId of [...nodes].sort()) {
    const room = roomOf(nodeId);
    if (room) rooms.push(room);
    if (isTired(search)) yield;
  }
  return rooms;
}

/**
 * The first to go whose going is enough. Nearly always there is one, and then the nodes of those after it
 * need not be looked at: nobody better can be on them.
 */
function* firstAlone(search: Search, roomOf: RoomFinder): Generator<void, number | null, void> {
  for (const [place, { members }] of search.eligible.entries()) {
    for (const nodeId of new Set(members.map((member) => member.nodeId))) {
      if (search.stepsLeft <= 0) return null;
      if (isTired(search)) yield;
      const room = roomOf(nodeId);
      if (!room || room.atLeast > 1) continue;
      search.stepsLeft -= Math.ceil(room.units.length / UNITS_A_STEP);
      if (fitsWithout(search, room, new Set([room.holders.indexOf(place)]))) return place;
    }
  }
  return null;
}

function roomOn(
  search: Search,
  entry: NodeEntry,
  placeOf: ReadonlyMap<ReservationId, number>,
): Room | null {
  const { plan, request } = search;
  const fit = fitOf(plan, entry);
  if (lastingCause(plan, entry, fit) !== null) return null;
  for (const { start, end } of entry.node.maintenance)
    if (start < request.end && end > request.start) return null;
  const onNode = holdersOn(search, entry, placeOf);
  const units: Room["units"][number][] = [];
  for (const [i, place] of fit.places.entries()) {
    const mask = fit.masks[i] ?? 1;
    if (mask === 0) continue;
    const blockers = blockersOf({ entry, place, request }, onNode.index);
    if (blockers) units.push({ mask, domain: fit.domains[i] ?? -1, blockers });
    else if (request.binding === "node") return null;
  }
  const room: Room = { entry, holders: onNode.holders, units, atLeast: 1 };
  if (!fitsWithout(search, room, new Set(room.holders.keys()))) return null;
  return { ...room, atLeast: leastOf(search, room) };
}

function holdersOn(
  { eligible, request }: Search,
  entry: NodeEntry,
  placeOf: ReadonlyMap<ReservationId, number>,
): { holders: number[]; index: ReadonlyMap<ReservationId, number> } {
  const holders = [...entry.calendar.holders()]
    .flatMap((id) => placeOf.get(id) ?? [])
    .filter((place) => {
      const { start, end } = eligible[place] as Reservation;
      return start < request.end && end > request.start;
    })
    .sort((a, b) => a - b);
  const index = new Map(holders.map((place, i) => [(eligible[place] as Reservation).id, i]));
  return { holders, index };
}

/** Who holds the unit in the window; null when it cannot be had by sending spot reservations away. */
function blockersOf(
  at: { readonly entry: NodeEntry; readonly place: number; readonly request: PlaceRequest },
  index: ReadonlyMap<ReservationId, number>,
): number[] | null {
  const { entry, place, request } = at;
  if (!entry.usable[place] || isWithheld({ entry, place }, request, request)) return null;
  const blockers = entry.calendar.holdersIn(place, request).map((id) => index.get(id) ?? -1);
  return blockers.includes(-1) ? null : blockers;
}

/** How many have to go at least, by the units that each holds. */
function leastOf({ plan, request }: Search, room: Room): number {
  if (request.binding === "node") return room.holders.length;
  const held = room.holders.map((_, i) => room.units.filter((u) => u.blockers.includes(i)).length);
  held.sort((a, b) => b - a);
  const free = room.units.filter(({ blockers }) => blockers.length === 0).length;
  let missing = plan.wanted - free;
  let least = 0;
  while (missing > 0 && least < held.length) {
    missing -= held[least] as number;
    least += 1;
  }
  return Math.max(1, least);
}

/** The best set of this size that makes room, as places in the list of the eligible. */
function* bestOfSize(
  search: Search,
  room: Room,
  size: number,
): Generator<void, readonly number[] | null, void> {
  // Walked by their greatest members, so the first that does is the best.
  for (const set of combinations(room.holders.length, size)) {
    if (search.stepsLeft <= 0) return null;
    if (isTired(search)) yield;
    search.stepsLeft -= Math.ceil(room.units.length / UNITS_A_STEP);
    if (fitsWithout(search, room, new Set(set))) return set.map((i) => room.holders[i] as number);
  }
  return null;
}

/** Every set of `size` numbers below `count`, ascending; those with the smaller greatest members first. */
function* combinations(count: number, size: number): Generator<number[], void, void> {
  if (size === 0) {
    yield [];
    return;
  }
  for (let last = size - 1; last < count; last += 1)
    for (const rest of combinations(last, size - 1)) yield [...rest, last];
}

function fitsWithout(search: Search, room: Room, gone: ReadonlySet<number>): boolean {
  const { plan, request } = search;
  if (request.binding === "node") return gone.size === room.holders.length;
  const { units } = plan;
  units.clear();
  for (const [place, { mask, domain, blockers }] of room.units.entries())
    if (blockers.every((blocker) => gone.has(blocker))) units.push(place, mask, domain);
  if (!enough(plan.demand, units.masks, units.size)) return false;
  if (!canSeat(plan.demand, units, plan.search)) return false;
  return plan.asks.length === 0 || scalarsFit(search, room, gone);
}

/** Whether no instant of the window lacks a scalar once they have gone. */
function scalarsFit(search: Search, room: Room, gone: ReadonlySet<number>): boolean {
  const { plan, request, eligible } = search;
  const { entry } = room;
  const leaving = [...gone].map((i) => eligible[room.holders[i] as number] as Reservation);
  return plan.asks.every(({ scalar, amount }) => {
    const use = entry.scalarUse.get(scalar)?.all;
    if (!use) return true;
    const given = leaving.map((r) => ({
      start: Math.max(r.start, request.start),
      end: r.end,
      amount: r.members
        .filter(({ nodeId }) => nodeId === entry.node.id)
        .reduce((sum, member) => sum + member.resources[scalar], 0),
    }));
    for (const { start, end, amount: part } of given) use.add(start, end, -part);
    const peak = use.peak(request.start, request.end);
    for (const { start, end, amount: part } of given) use.add(start, end, part);
    return peak + amount <= entry.node.scalars[scalar];
  });
}

/** Out of steps: all of the first node's go, and each comes back that can, the most precious first. */
function greedy(search: Search, rooms: readonly Room[]): Victims | null {
  const room = rooms[0];
  if (!room) return null;
  const gone = new Set(room.holders.keys());
  for (const i of [...room.holders.keys()].reverse()) {
    gone.delete(i);
    if (!fitsWithout(search, room, gone)) gone.add(i);
  }
  const places = [...gone].sort((a, b) => a - b).map((i) => room.holders[i] as number);
  return { victims: chosen(search, places), exact: false };
}
