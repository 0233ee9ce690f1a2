/** A pool at one number of its order, as plain rows, and questions to it answered by looking at every row. */
import {
  type FenceRow,
  type MaintenanceRow,
  type NodeRow,
  type OfferRow,
  type PoolRow,
  type QuotaRow,
  type ReservationRow,
  type Span,
  type UnitRow,
  meets,
} from "./rows.ts";

export interface View {
  readonly gateId: string;
  readonly seq: number;
  /** The gate's clock at that number. */
  readonly at: number;
  readonly pool: PoolRow | null;
  readonly offers: readonly OfferRow[];
  readonly quotas: readonly QuotaRow[];
  readonly nodes: readonly NodeRow[];
  readonly units: ReadonlyMap<string, UnitRow>;
  readonly maintenance: readonly MaintenanceRow[];
  /** Not ended. */
  readonly fences: readonly FenceRow[];
  /** Live. */
  readonly reservations: readonly ReservationRow[];
}

const SCALAR_COLUMNS = {
  vcpu: "vcpu",
  memoryGiB: "memory_gib",
  hugepages1Gi: "hugepages_1gi",
} as const;
type Scalar = keyof typeof SCALAR_COLUMNS;
export const SCALARS: readonly Scalar[] = ["vcpu", "memoryGiB", "hugepages1Gi"];

export const scalarOf = (node: NodeRow, scalar: Scalar): number => node[SCALAR_COLUMNS[scalar]];

/** What the reservation is charged at every instant of its window, by resource. */
export function chargeOf(
  units: View["units"],
  { binding, members }: ReservationRow,
): Map<string, number> {
  const sums = new Map<string, number>();
  const add = (resource: string, amount: number): void => {
    if (amount > 0) sums.set(resource, (sums.get(resource) ?? 0) + amount);
  };
  for (const { unitIds, resources } of members) {
    const held = unitIds.flatMap((id) => units.get(id) ?? []);
    const isBeside = (unit: UnitRow): boolean => unit.class === "nic.vf" || unit.class === "disk";
    if (binding === "node") {
      const parts = held.filter((unit) => !isBeside(unit));
      add("gpu", new Set(parts.map((unit) => unit.parent_unit_id ?? unit.id)).size);
      add("node", 1);
    }
    for (const unit of held) if (binding === "hold" || isBeside(unit)) add(unit.class, 1);
    for (const scalar of SCALARS) add(scalar, resources[scalar]);
  }
  return sums;
}

interface Level extends Span {
  readonly amount: number;
}

/** The most that is up at any one instant of the window. */
export function peak(levels: readonly Level[], window: Span): number {
  const edges: [number, number][] = [];
  for (const level of levels) {
    if (!meets(level, window) || level.start >= level.end) continue;
    edges.push([Math.max(level.start, window.start), level.amount]);
    edges.push([Math.min(level.end, window.end), -level.amount]);
  }
  // At one instant ends come before starts.
  edges.sort(([a, x], [b, y]) => a - b || x - y);
  let most = 0;
  let now = 0;
  for (const [, amount] of edges) most = Math.max(most, (now += amount));
  return most;
}

/** The payer's use of a resource, a level a live reservation. */
export function usage(
  view: View,
  about: { readonly payer: string; readonly resource: string },
): Level[] {
  return view.reservations.flatMap((row) => {
    if (row.charged_tenant_id !== about.payer) return [];
    const amount = chargeOf(view.units, row).get(about.resource) ?? 0;
    return amount === 0 ? [] : [{ start: row.start, end: row.end, amount }];
  });
}

const ALWAYS_METERED = new Set(["gpu", "gpu.mig", "gpu.slot"]);

/** Null: not metered. */
export function quotaMax(view: View, payer: string, resource: string): number | null {
  const row = view.quotas.find((q) => q.tenant_id === payer && q.resource === resource);
  return row ? row.max : ALWAYS_METERED.has(resource) ? 0 : null;
}

/** Whether some ring-fence keeps the unit from the tenant at some instant of the window. */
export function isWithheld(
  view: View,
  unitId: string,
  asker: Span & { readonly tenantId: string; readonly spot: boolean },
): boolean {
  return view.fences.some((fence) => {
    const term = { start: fence.starts_at, end: fence.ends_at ?? Number.MAX_SAFE_INTEGER };
    if (!fence.unit_ids.includes(unitId) || !meets(term, asker)) return false;
    if (fence.status === "needs-review") return true;
    if (fence.released_unit_ids.includes(unitId)) return !asker.spot;
    return !fence.allowed_org_ids.includes(asker.tenantId);
  });
}

/** Whether the unit can be used all through the window. */
export function isSound(view: View, unitId: string, window: Span): boolean {
  const unit = view.units.get(unitId);
  const node = unit && view.nodes.find(({ id }) => id === unit.node_id);
  if (!unit || !node || node.state !== "ready") return false;
  const parent = unit.parent_unit_id === null ? null : view.units.get(unit.parent_unit_id);
  if ([unit, ...(parent ? [parent] : [])].some(({ healthy, removed }) => !healthy || removed))
    return false;
  return !view.maintenance.some((row) => row.node_id === node.id && meets(row, window));
}

/** Scalars of which more is taken at some instant of the window than the node has. */
export function overScalars(view: View, nodeId: string, window: Span): string[] {
  const node = view.nodes.find(({ id }) => id === nodeId);
  if (!node) return [];
  const taken = view.reservations.flatMap((row) => [
    ...row.members.map((part) => ({ ...part, start: row.start, end: row.end })),
    ...row.pins.map((pin) => ({ ...pin, start: pin.from, end: row.start })),
  ]);
  const mine = taken.filter((part) => part.nodeId === nodeId);
  return SCALARS.filter((scalar) => {
    const levels = mine.map(({ start, end, resources }) => ({
      start,
      end,
      amount: resources[scalar],
    }));
    return peak(levels, window) > scalarOf(node, scalar);
  });
}
