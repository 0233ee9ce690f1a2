/**
 * Which spot reservations would have to go so that a request fits. On one node the answer is exact: the
 * fewest, and among as few the ones least worth keeping; sets are tried by size until one does, within a
 * budget of steps. Across nodes (a gang, several whole nodes) all go in thought and each comes back that
 * can, those most worth keeping first: what is left is minimal, none of it could stay.
 */
import type { PlaceRequest, PoolConfig, Reservation } from "../model.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Change } from "../turn.ts";
import { outOfSight } from "./absent.ts";
import { GangRoom } from "./gang.ts";
import { place } from "./place.ts";
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
  return outOfSight(state, { gone: weighed, from: request.start }, (absent) => {
    const placed = place(state, request, { candidatesMax: 1 });
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
    for (const one of weighed) if (!isInTheWay(one)) absent.comesBack(one);
    return keepWhoCanStay(state, { request, gone: weighed.filter(isInTheWay), absent });
  });
}

/**
 * Those most worth keeping are tried first. Only the nodes of whoever comes back can take less for that, so
 * no others are looked at again.
 */
function keepWhoCanStay(
  state: PoolState,
  {
    request,
    gone,
    absent,
  }: {
    readonly request: PlaceRequest;
    readonly gone: readonly Reservation[];
    readonly absent: Absent;
  },
): Victims {
  const room = new GangRoom(state, planOf(state, request));
  const victims = new Set(gone);
  let looksLeft = LOOKS_MAX;
  for (const candidate of [...gone].reverse()) {
    const nodes = new Set(candidate.members.map(({ nodeId }) => nodeId));
    for (const nodeId of nodes) looksLeft -= state.node(nodeId)?.units.length ?? 0;
    if (looksLeft < 0) break;
    absent.comesBack(candidate);
    for (const nodeId of nodes) room.look(nodeId);
    if (room.fits) victims.delete(candidate);
    else {
      absent.goes(candidate);
      for (const nodeId of nodes) room.look(nodeId);
    }
  }
  return { victims: [...victims], exact: false };
}

function usesScalars({ resources, binding }: PlaceRequest): boolean {
  return binding === "node" || Object.values(resources).some((amount) => amount > 0);
}

/** Those who hold nothing for the time of a look. */
export interface Absent {
  comesBack(reservation: Reservation): void;
  goes(reservation: Reservation): void;
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
