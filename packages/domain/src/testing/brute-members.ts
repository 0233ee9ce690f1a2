/** Several members at once, by trying every way to give each of them its units. */
import type { Node, PlaceRequest, PoolSnapshot, Unit } from "../model.ts";
import type { Cause } from "../refusal.ts";
import {
  type BruteRequest,
  asSeen,
  bruteCanTake,
  bruteCause,
  bruteIsFree,
  bruteIsSound,
  bruteIsWithheld,
  bruteScalarPeak,
} from "./brute-force.ts";

const SCALARS = ["vcpu", "memoryGiB", "hugepages1Gi"] as const;

/** Members, or whole nodes, that the request wants. */
export function bruteSize({ gang, binding, devices }: PlaceRequest): number {
  if (gang) return gang.size;
  return binding === "node" ? (devices[0]?.count ?? 1) : 1;
}

/** The most members that the node takes, no more than are wanted. */
export function bruteMembers(snapshot: PoolSnapshot, node: Node, request: PlaceRequest): number {
  if (bruteCause(snapshot, node, request) !== null) return 0;
  if (request.binding === "node") return 1;
  let most = bruteSize(request);
  for (const scalar of SCALARS) {
    const ask = request.resources[scalar];
    const peak = bruteScalarPeak(snapshot, { node, scalar }, request);
    while (ask > 0 && peak + most * ask > node.scalars[scalar]) most -= 1;
  }
  const free = node.units.filter(
    (unit) =>
      bruteIsSound(node, unit) &&
      bruteIsFree(snapshot, unit, request) &&
      !bruteIsWithheld(snapshot, unit, request),
  );
  return mostOf(free, request, most);
}

/** One member takes some set of units that serves its lines; the others make do with the rest. */
function mostOf(free: readonly Unit[], request: PlaceRequest, most: number): number {
  const wanted = request.devices.reduce((sum, line) => sum + line.count, 0);
  const sets = setsOf(free.length, wanted).filter((set) =>
    bruteCanTake(
      free.filter((_, i) => set & (1 << i)),
      request,
      true,
    ),
  );
  const known = new Map<number, number>();
  const rest = (open: number): number => {
    const before = known.get(open);
    if (before !== undefined) return before;
    let best = 0;
    for (const set of sets) {
      if ((set & open) === set) best = Math.max(best, 1 + rest(open & ~set));
      if (best >= most) break;
    }
    known.set(open, best);
    return best;
  };
  return Math.min(most, rest((1 << free.length) - 1));
}

function setsOf(count: number, size: number): number[] {
  const ones = (set: number): number => set.toString(2).replaceAll("0", "").length;
  return Array.from({ length: 1 << count }, (_, set) => set).filter((set) => ones(set) === size);
}

/** By what the nodes' label says: members that its nodes take in all. */
export function bruteDomains(snapshot: PoolSnapshot, request: PlaceRequest): Map<string, number> {
  const key = request.gang?.topologyKey;
  const rooms = new Map<string, number>();
  for (const node of snapshot.nodes) {
    const value = key === undefined ? "everywhere" : node.labels[key];
    if (value === undefined) continue;
    rooms.set(value, (rooms.get(value) ?? 0) + bruteMembers(snapshot, node, request));
  }
  return rooms;
}

export function bruteFits(snapshot: PoolSnapshot, request: PlaceRequest): boolean {
  const size = bruteSize(request);
  if (size === 1) return snapshot.nodes.some((n) => bruteCause(snapshot, n, request) === null);
  return Math.max(0, ...bruteDomains(snapshot, request).values()) >= size;
}

/** Nodes by cause, of a request that does not fit. */
export function bruteBlocked(snapshot: PoolSnapshot, request: BruteRequest): Map<Cause, number> {
  const counts = new Map<Cause, number>();
  const key = request.gang?.topologyKey;
  for (const node of snapshot.nodes) {
    const outside = key !== undefined && node.labels[key] === undefined;
    const cause = bruteCause(snapshot, node, request) ?? (outside ? "TOPOLOGY_KEY" : "GANG");
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
  }
  return counts;
}

/** Tries every instant. */
export function bruteEarliestStart(
  snapshot: PoolSnapshot,
  asked: PlaceRequest,
  horizonEnd: number,
): number | null {
  const request = asSeen(snapshot, asked);
  const duration = request.end - request.start;
  for (let at = request.start; at <= horizonEnd; at += 1) {
    if (bruteFits(snapshot, { ...request, start: at, end: at + duration })) return at;
  }
  return null;
}
