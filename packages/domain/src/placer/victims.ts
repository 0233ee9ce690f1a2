/**
 * Which spot reservations would have to go so that a request fits. On one node the answer is exact: the
 * fewest, and among as few the ones least worth keeping; sets are tried by size until one does, within a
 * budget of steps. Across nodes (a gang, several whole nodes) all go in thought and each comes back that
 * can, those most worth keeping first: what is left is minimal, none of it could stay.
 */
import type { ReservationId } from "../ids.ts";
import type { PlaceRequest, PoolConfig, Reservation } from "../model.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import { place } from "./place.ts";
import { victimsOnOneNode } from "./victims-on-one-node.ts";

export interface Victims {
  /** At least one; the first to go comes first. */
  readonly victims: readonly Reservation[];
  /** Whether they are surely the fewest; else only none of them could stay. */
  readonly exact: boolean;
}

/** Across nodes no more than these are weighed, those that go first. */
const WEIGHED_MAX = 2_000;
/** Across nodes no more than these are tried to be kept one by one. */
const TRIED_MAX = 256;

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
  const { config } = state;
  if (!config) return null;
  const { start, end } = request;
  const eligible: Reservation[] = [];
  for (const r of state.preemptible().values())
    if (r.start < end && r.end > start) eligible.push(r);
  if (eligible.length === 0) return null;
  eligible.sort(comparePriority(config));
  return isForOneNode(request)
    ? victimsOnOneNode(state, request, eligible)
    : acrossNodes(state, request, eligible);
}

function isForOneNode({ gang, binding, devices }: PlaceRequest): boolean {
  return gang === null && (binding === "hold" || devices[0]?.count === 1);
}

function acrossNodes(
  state: PoolState,
  request: PlaceRequest,
  eligible: readonly Reservation[],
): Victims | null {
  const weighed = eligible.slice(0, WEIGHED_MAX);
  const members = without(state, { gone: weighed, from: request.start }, () => {
    const placed = place(state, request, { candidatesMax: 1 });
    return placed.fits ? placed.members : null;
  });
  if (!members) return null;
  const inTheWay = new Set<ReservationId>();
  for (const { nodeId, unitIds } of members) {
    const entry = state.entry(nodeId) as NodeEntry;
    for (const id of unitIds) {
      const unit = state.place(id)?.unit ?? 0;
      for (const holder of entry.calendar.holdersIn(unit, request)) inTheWay.add(holder);
    }
    // Scalars have no owner: everybody on the node may have what is lacking.
    if (usesScalars(request)) for (const holder of entry.calendar.holders()) inTheWay.add(holder);
  }
  const gone = weighed.filter(({ id }) => inTheWay.has(id));
  return keepWhoCanStay(state, request, gone);
}

/** Those most worth keeping are tried first. */
function keepWhoCanStay(
  state: PoolState,
  request: PlaceRequest,
  gone: readonly Reservation[],
): Victims {
  let victims = [...gone];
  for (const candidate of [...gone].reverse().slice(0, TRIED_MAX)) {
    const fewer = victims.filter(({ id }) => id !== candidate.id);
    const fits = without(state, { gone: fewer, from: request.start }, () => {
      return place(state, request, { candidatesMax: 1 }).fits;
    });
    if (fits) victims = fewer;
  }
  return { victims, exact: false };
}

function usesScalars({ resources, binding }: PlaceRequest): boolean {
  return binding === "node" || Object.values(resources).some((amount) => amount > 0);
}

/** What `look` finds while some reservations hold nothing from an instant on. Nobody sees the state meanwhile. */
export function without<T>(
  state: PoolState,
  { gone, from }: { readonly gone: readonly Reservation[]; readonly from: number },
  look: () => T,
): T {
  // One that is over by then stays as it is: to end at that instant would make it longer.
  const cut = gone.filter(({ end }) => end > from);
  const changes = cut.map((before) => ({
    kind: "reservation" as const,
    before,
    after:
      before.start >= from ? { ...before, state: "preempted" as const } : { ...before, end: from },
  }));
  return state.unseen(() => {
    for (const change of changes) state.apply(change);
    try {
      return look();
    } finally {
      for (const change of changes.reverse()) state.revert(change);
    }
  });
}
