/**
 * Which spot reservations would have to go so that a request fits. On one node the answer is exact: the
 * fewest, and among as few the ones least worth keeping; sets are tried by size until one does, within a
 * budget of steps. Across nodes (a gang, several whole nodes) all go in thought and each comes back that
 * can, those most worth keeping first: what is left is minimal, none of it could stay.
 */
import type { PlaceRequest, PoolConfig, Reservation } from "../model.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Change } from "../turn.ts";
import { exactly, through } from "../steps.ts";
import { WithoutSome } from "./absent.ts";
import { GangRoom } from "./gang.ts";
import { place, type Placement } from "./place.ts";
import { planOf } from "./plan.ts";
import { victimsOnOneNode } from "./victims-on-one-node.ts";

export interface Victims {
  /** At least one; the first to go comes first. */
  readonly victims: readonly Reservation[];
  /** Whether they are surely the fewest; else only none of them could stay. */
  readonly exact: boolean;
}

/** Across nodes no more than these are weighed, those that go first. */
const WEIGHED_MAX = 2_000;
/** Across nodes so many units are looked at to see who can stay: a tenth of a second. */
const LOOKS_MAX = 80_000;
/** Units between two pauses, and bookings to sort. */
const UNITS_A_PAUSE = 256;
const SORTED_A_PAUSE = 1_024;

/** By who goes first: the lower offer priority, then the younger, then the higher id. */
export function comparePriority(config: PoolConfig): (a: Reservation, b: Reservation) => number {
  const priorities = new Map(config.offers.map(({ tenantId, priority }) => [tenantId, priority]));
  const of = (r: Reservation): number => priorities.get(r.chargedTenantId) ?? 0;
  return (a, b) => of(a) - of(b) || b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}

/**
 * @param request in the window that it would get; it does not fit now
 * @returns null when nobody's going would help
 */
export function findVictims(state: PoolState, request: PlaceRequest): Victims | null {
  return through(findVictimsSteps(state, request));
}

/** The same, pausing every few hundred units (well under 5 ms), on a state that may change meanwhile. */
export function* findVictimsSteps(
  state: PoolState,
  request: PlaceRequest,
): Generator<void, Victims | null, void> {
  return yield* exactly(state, () => victimsSteps(state, request));
}

function* victimsSteps(
  state: PoolState,
  request: PlaceRequest,
): Generator<void, Victims | null, void> {
  const { config } = state;
  if (!config) return null;
  const alone = isForOneNode(request);
  const first = yield* firstToGo(state, config, { request, most: alone ? Infinity : WEIGHED_MAX });
  if (first.length === 0) return null;
  yield;
  if (alone) return yield* victimsOnOneNode(state, request, first);
  return yield* acrossNodes(state, request, first);
}

/** Spot bookings that hold something in the window, in the order in which they go; of more than `most` the first. */
function* firstToGo(
  state: PoolState,
  config: PoolConfig,
  { request, most }: { readonly request: PlaceRequest; readonly most: number },
): Generator<void, readonly Reservation[], void> {
  const { start, end } = request;
  const order = comparePriority(config);
  let first: Reservation[] = [];
  let more: Reservation[] = [];
  for (const r of state.preemptible().values()) {
    if (r.start < end && r.end > start) more.push(r);
    if (more.length < SORTED_A_PAUSE) continue;
    first = merged(first, more.sort(order), order).slice(0, most);
    more = [];
    yield;
  }
  return merged(first, more.sort(order), order).slice(0, most);
}

/** Two sorted lists as one. */
function merged<T>(a: readonly T[], b: readonly T[], order: (a: T, b: T) => number): T[] {
  const all: T[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length)
    all.push(order(a[i] as T, b[j] as T) <= 0 ? (a[i++] as T) : (b[j++] as T));
  return [...all, ...a.slice(i), ...b.slice(j)];
}

function isForOneNode({ gang, binding, devices }: PlaceRequest): boolean {
  return gang === null && (binding === "hold" || devices[0]?.count === 1);
}

function* acrossNodes(
  state: PoolState,
  request: PlaceRequest,
  weighed: readonly Reservation[],
): Generator<void, Victims | null, void> {
  const placed = yield* placedWithout(state, request, weighed);
  if (!placed.fits) return null;
  const units = new Set(placed.members.flatMap(({ unitIds }) => unitIds));
  const nodes = new Set(placed.members.map(({ nodeId }) => nodeId));
  // Scalars have no owner: everybody on the node may have what is lacking. A lease has all of its node.
  const scalars = usesScalars(request);
  const isInTheWay = ({ members, binding }: Reservation): boolean =>
    members.some(({ nodeId, unitIds }) => {
      const holds = scalars || binding === "node" || unitIds.some((id) => units.has(id));
      return holds && nodes.has(nodeId);
    });
  const gone: Reservation[] = [];
  const pace = new Pace();
  for (const one of weighed) {
    if (isInTheWay(one)) gone.push(one);
    if (pace.isTired(unitsOf(one))) yield;
  }
  return yield* keepWhoCanStay(state, request, gone);
}

/** Where the request fits once all of these have gone. */
function* placedWithout(
  state: PoolState,
  request: PlaceRequest,
  gone: readonly Reservation[],
): Generator<void, Placement, void> {
  const view = yield* viewWithout(state, request, gone);
  const placed = place(view, request, { candidatesMax: 1 });
  yield;
  return placed;
}

function* viewWithout(
  state: PoolState,
  { start }: PlaceRequest,
  gone: readonly Reservation[],
): Generator<void, WithoutSome, void> {
  const view = new WithoutSome(state, start);
  const pace = new Pace();
  yield;
  for (const one of gone) {
    view.goes(one);
    if (pace.isTired(unitsOf(one))) yield;
  }
  yield;
  return view;
}

/**
 * Those most worth keeping are tried first. Only the nodes of whoever comes back can take less for that, so
 * no others are looked at again.
 */
function* keepWhoCanStay(
  state: PoolState,
  request: PlaceRequest,
  gone: readonly Reservation[],
): Generator<void, Victims, void> {
  const view = yield* viewWithout(state, request, gone);
  const room = new GangRoom(view, planOf(view, request));
  const victims = new Set(gone);
  const pace = new Pace();
  let looksLeft = LOOKS_MAX;
  yield;
  for (const candidate of [...gone].reverse()) {
    const nodes = new Set(candidate.members.map(({ nodeId }) => nodeId));
    let looks = 0;
    for (const nodeId of nodes) looks += state.node(nodeId)?.units.length ?? 0;
    looksLeft -= looks;
    if (looksLeft < 0) break;
    view.comesBack(candidate);
    for (const nodeId of nodes) room.look(nodeId);
    if (room.fits) victims.delete(candidate);
    else {
      view.goes(candidate);
      for (const nodeId of nodes) room.look(nodeId);
    }
    if (pace.isTired(looks)) yield;
  }
  return { victims: [...victims], exact: false };
}

function unitsOf({ members }: Reservation): number {
  return members.reduce((sum, { unitIds }) => sum + unitIds.length, 0);
}

/** Tells a search when to pause. */
class Pace {
  #units = 0;

  /** @param units looked at since it was last asked */
  isTired(units: number): boolean {
    this.#units += units;
    if (this.#units < UNITS_A_PAUSE) return false;
    this.#units = 0;
    return true;
  }
}

function usesScalars({ resources, binding }: PlaceRequest): boolean {
  return binding === "node" || Object.values(resources).some((amount) => amount > 0);
}

/**
 * What `look` finds while some reservations hold nothing from an instant on, their quota included. Nobody sees the
 * state meanwhile. Where only the placer looks, `absent.ts` does it in a fraction of the time.
 */
export function without<T>(
  state: PoolState,
  { gone, from }: { readonly gone: readonly Reservation[]; readonly from: number },
  look: () => T,
): T {
  const changes: Change[] = [];
  return state.unseen(() => {
    try {
      for (const before of gone) {
        // One that is over by then stays as it is: to end at that instant would make it longer.
        if (before.end <= from) continue;
        const after: Reservation =
          before.start >= from ? { ...before, state: "preempted" } : { ...before, end: from };
        const change: Change = { kind: "reservation", before, after };
        state.apply(change);
        changes.push(change);
      }
      return look();
    } finally {
      for (const change of changes.reverse()) state.revert(change);
    }
  });
}
