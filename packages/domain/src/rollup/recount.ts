/**
 * Counts a pool's capacity rows anew, from its nodes and live bookings: what the rebuild compares the
 * running totals with. Straight sums in one pass; nothing is remembered.
 *
 * A scalar's `allocated` is what started bookings use. Its `reserved` is, node by node, the most that
 * bookings which start later use at one instant: adding up bookings that follow each other would claim
 * more than the node has. A node that shrank under its bookings counts no more than it has.
 */
import { RESOURCES, SCALARS } from "../model.ts";
import type { Member, Node, PoolSnapshot, Resource, RollupRow, Scalar } from "../model.ts";
import { bucketOfNode, bucketOfUnit } from "./buckets.ts";

interface Hold {
  readonly member: Member;
  /** Whether it is a lease of the whole node. */
  readonly whole: boolean;
  readonly start: number;
  readonly end: number;
}

type Row = { -readonly [K in Exclude<keyof RollupRow, "resource">]: number };

/**
 * @param now bookings that contain it are allocated, later ones reserved; everything due at it is applied
 * @returns by resource name, only resources that the nodes have
 */
export function recountRollup(snapshot: PoolSnapshot, now: number): RollupRow[] {
  const holds = new Map<string, Hold[]>();
  for (const { members, start, end, binding } of snapshot.reservations) {
    for (const member of members) {
      const list = holds.get(member.nodeId) ?? [];
      holds.set(member.nodeId, list);
      list.push({ member, start, end, whole: binding === "node" });
    }
  }
  const rows = new Map<Resource, Row>();
  const row = (resource: Resource): Row => {
    const known = rows.get(resource) ?? emptyRow();
    rows.set(resource, known);
    return known;
  };
  for (const node of snapshot.nodes) countNode(row, { node, holds: holds.get(node.id) ?? [], now });
  return [...RESOURCES]
    .sort()
    .flatMap((resource) => {
      const counted = rows.get(resource);
      return counted && counted.total > 0 ? [{ resource, ...counted }] : [];
    })
    .map((counted) => ({ ...counted, available: Math.max(0, counted.available) }));
}

/** `available` is kept as the plain difference until the rows are answered. */
function countNode(
  row: (resource: Resource) => Row,
  about: { readonly node: Node; readonly holds: readonly Hold[]; readonly now: number },
): void {
  const { node, holds, now } = about;
  const active = holds.filter((hold) => hold.start <= now && now < hold.end);
  const later = holds.filter((hold) => hold.start > now);
  const activeUnits = new Set(active.flatMap((hold) => hold.member.unitIds));
  const laterUnits = new Set(later.flatMap((hold) => hold.member.unitIds));
  const add = (resource: Resource, bucket: Node["state"], part: readonly number[]): void => {
    const [total = 0, allocated = 0, reserved = 0] = part;
    const counted = row(resource);
    counted.total += total;
    counted[bucket === "ready" ? "allocatable" : bucket] += total;
    counted.allocated += allocated;
    counted.reserved += reserved;
    if (bucket === "ready") counted.available += total - allocated - reserved;
  };
  for (const unit of node.units) {
    const part = [1, activeUnits.has(unit.id) ? 1 : 0, laterUnits.has(unit.id) ? 1 : 0];
    add(unit.class, bucketOfUnit(node, unit), part);
  }
  const leased = [active, later].map((list) => (list.some(({ whole }) => whole) ? 1 : 0));
  add("node", bucketOfNode(node), [1, ...leased]);
  for (const scalar of SCALARS) {
    const total = node.scalars[scalar];
    const used = active.reduce((sum, hold) => sum + hold.member.resources[scalar], 0);
    const reserved = Math.min(total, peakOf(later, scalar));
    add(scalar, bucketOfNode(node), [total, Math.min(total, used), reserved]);
  }
}

/** The most in use at one instant: it is reached where some hold starts. */
function peakOf(holds: readonly Hold[], scalar: Scalar): number {
  let peak = 0;
  for (const { start } of holds) {
    let level = 0;
    for (const hold of holds) {
      if (hold.start <= start && start < hold.end) level += hold.member.resources[scalar];
    }
    peak = Math.max(peak, level);
  }
  return peak;
}

function emptyRow(): Row {
  return {
    total: 0,
    allocatable: 0,
    allocated: 0,
    reserved: 0,
    available: 0,
    provisioning: 0,
    unhealthy: 0,
    maintenance: 0,
    unreachable: 0,
  };
}
