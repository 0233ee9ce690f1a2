/**
 * A pool's capacity rows as one tenant reads them: a unit that is withheld from it now keeps its place in
 * `total` and counts once, as reserved, whatever is booked on it. So does a node of which one is: no lease
 * of the whole node is to be had.
 */
import type { TenantId } from "../ids.ts";
import type { Resource, RollupRow } from "../model.ts";
import { bucketOfNode, bucketOfUnit } from "../rollup/buckets.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import { isWithheldAt } from "./hidden.ts";

/** What of a row is changed; `free` is what allocatable units leave, below 0 where they are booked twice. */
interface Count {
  free: number;
  allocated: number;
  reserved: number;
}

/** By resource name, as `state.rollup()`. At a state in which nothing is due at `now`. */
export function rollupFor(
  state: PoolState,
  { tenantId, now }: { readonly tenantId: TenantId; readonly now: number },
): RollupRow[] {
  const counts: Partial<Record<Resource, Count>> = {};
  let withheld = false;
  for (const entry of state.entries) {
    const held = withheldOf(entry, { tenantId, now });
    withheld ||= held.size > 0;
    countEntry(counts, entry, held);
  }
  const rows = state.rollup();
  return withheld ? rows.map((row) => seen(row, counts[row.resource])) : rows;
}

function seen(row: RollupRow, count: Count | undefined): RollupRow {
  if (!count) return row;
  const { free, allocated, reserved } = count;
  return { ...row, allocated, reserved, available: Math.max(0, free) };
}

/** Places of the node's units that are withheld now. */
function withheldOf(
  { node, terms }: NodeEntry,
  at: { readonly tenantId: TenantId; readonly now: number },
): Set<number> {
  const held = new Set<number>();
  for (const [unit, its] of (terms ?? []).entries()) {
    const unitId = node.units[unit]?.id;
    if (unitId !== undefined && isWithheldAt(its, { ...at, unitId })) held.add(unit);
  }
  return held;
}

function countEntry(
  counts: Partial<Record<Resource, Count>>,
  { node, bookings, leases }: NodeEntry,
  held: ReadonlySet<number>,
): void {
  const add = (resource: "gpu" | "node", ready: boolean, [active, later]: readonly boolean[]) => {
    const count = (counts[resource] ??= { free: 0, allocated: 0, reserved: 0 });
    const [allocated, reserved] = [active ? 1 : 0, later ? 1 : 0];
    count.allocated += allocated;
    count.reserved += reserved;
    if (ready) count.free += 1 - allocated - reserved;
  };
  const reservedOnce = [false, true];
  for (const [at, unit] of node.units.entries()) {
    if (unit.class !== "gpu") continue;
    const booked = [(bookings.active[at] ?? 0) > 0, (bookings.reserved[at] ?? 0) > 0];
    add("gpu", bucketOfUnit(node, unit) === "ready", held.has(at) ? reservedOnce : booked);
  }
  const leased = [leases.active > 0, leases.reserved > 0];
  add("node", bucketOfNode(node) === "ready", held.size > 0 ? reservedOnce : leased);
}
