/**
 * The brute-force model of the domain's tests, asked about a view: would the request fit? Its times are
 * small integers, so instants are replaced by their ranks: only their order counts.
 */
import type { PlaceRequest, PoolSnapshot } from "@berth/domain";
import { bruteFits, bruteRollup, bruteTimeline } from "@berth/domain/testing";
import type { ReservationRow, UnitRow } from "./rows.ts";
import { type View, SCALARS, scalarOf } from "./view.ts";

export type FitRequest = Pick<
  PlaceRequest,
  "binding" | "gang" | "spot" | "devices" | "topology" | "resources" | "start" | "end"
> & { readonly tenantId: string };

export function fits(view: View, request: FitRequest): boolean {
  const classes = new Set<string>(request.devices.map((line) => line.class));
  // Units that nobody asks for only make more combinations.
  const wanted = (unit: UnitRow): boolean => classes.has("node") || classes.has(unit.class);
  const near = overlapping(view, request);
  const rank = ranks(near, [request.start, request.end]);
  const ranked = { ...request, start: rank(request.start), end: rank(request.end) };
  return bruteFits(snapshotOf(near, rank, wanted), ranked as PlaceRequest);
}

/** The view without what cannot meet the window: fewer ranks to count through. */
function overlapping(view: View, { start, end }: { start: number; end: number }): View {
  const reservations = view.reservations.filter(
    (row) => (row.start < end && Math.max(row.end, row.start) > start) || row.pins.length > 0,
  );
  return { ...view, reservations };
}

/** The view once these have gone at `from`. */
export function without(view: View, gone: readonly ReservationRow[], from: number): View {
  const ids = new Set(gone.map(({ id }) => id));
  const reservations = view.reservations.flatMap((row) => {
    if (!ids.has(row.id)) return [row];
    return row.start >= from ? [] : [{ ...row, end: Math.min(row.end, from) }];
  });
  return { ...view, reservations };
}

export type Counts = Readonly<Record<string, number | string>>;

/** The capacity rows of a pool without ring-fences, by resource name. */
export function rollup(view: View): readonly Counts[] {
  const rank = ranks(view, [view.at]);
  const last = rank(Number.MAX_SAFE_INTEGER);
  const all = (): boolean => true;
  const rows = bruteRollup(snapshotOf(view, rank, all), rank(view.at), last);
  return rows.map((row): Counts => ({ ...row, ...(row.resource === "node" ? leased(view) : {}) }));
}

/** The model's row of nodes knows of no leases. */
function leased(view: View): Counts {
  const leases = view.reservations.filter(({ binding }) => binding === "node");
  const has = (id: string, row: ReservationRow): boolean =>
    row.members.some(({ nodeId }) => nodeId === id);
  let [allocated, reserved, left] = [0, 0, 0];
  for (const { id, state } of view.nodes) {
    const mine = leases.filter((row) => has(id, row));
    const now = mine.some(({ start }) => start <= view.at) ? 1 : 0;
    const later = mine.some(({ start }) => start > view.at) ? 1 : 0;
    const out = view.maintenance.some((row) => row.node_id === id && row.state === "active");
    allocated += now;
    reserved += later;
    if (state === "ready" && !out) left += 1 - now - later;
  }
  return { allocated, reserved, available: Math.max(0, left) };
}

/** GPUs that are booked at some time of the bucket. */
export function bookedIn(
  view: View,
  bucket: { readonly start: number; readonly end: number },
): number {
  const near = overlapping(view, bucket);
  const rank = ranks(near, [bucket.start, bucket.end]);
  const [from, to] = [rank(bucket.start), rank(bucket.end)];
  const gpus = (unit: UnitRow): boolean => unit.class === "gpu";
  const [found] = bruteTimeline(snapshotOf(near, rank, gpus), { from, to, step: to - from });
  return found?.booked ?? 0;
}

type Rank = (instant: number) => number;

function ranks(view: View, more: readonly number[]): Rank {
  const instants = new Set(more);
  for (const row of view.reservations) {
    instants.add(row.start).add(row.end);
    for (const pin of row.pins) instants.add(pin.from);
  }
  for (const row of view.maintenance) instants.add(row.start).add(row.end);
  for (const { starts_at, ends_at } of view.fences)
    instants.add(starts_at).add(ends_at ?? starts_at);
  const order = [...instants].toSorted((a, b) => a - b);
  const known = new Map(order.map((instant, at) => [instant, at]));
  return (instant) => known.get(instant) ?? order.length;
}

/** Only what the model looks at: the rest of a snapshot's fields are left out. */
function snapshotOf(view: View, rank: Rank, wanted: (unit: UnitRow) => boolean): PoolSnapshot {
  const unitsOf = Map.groupBy(view.units.values(), (unit) => unit.node_id);
  const nodes = view.nodes.map((node) => {
    const all = (unitsOf.get(node.id) ?? []).map(plainUnit);
    return {
      id: node.id,
      state: node.state,
      labels: node.labels,
      scalars: Object.fromEntries(SCALARS.map((scalar) => [scalar, scalarOf(node, scalar)])),
      maintenance: view.maintenance
        .filter((row) => row.node_id === node.id)
        .map((row) => ({
          start: rank(row.start),
          end: rank(row.end),
          active: row.state === "active",
        })),
      units: all.filter(({ row }) => !row.carrier && wanted(row)).map(({ unit }) => unit),
      gpus: all.filter(({ row }) => row.carrier).map(({ unit }) => unit),
    };
  });
  const reservations = view.reservations.map((row) => ({
    id: row.id,
    tenantId: row.tenant_id,
    binding: row.binding,
    spot: row.spot,
    start: rank(row.start),
    end: rank(row.end),
    pins: row.pins.map((pin) => ({ ...pin, from: rank(pin.from) })),
    members: row.members,
  }));
  const unitReservations = view.fences.map((fence) => ({
    status: fence.status,
    allowedOrgIds: fence.allowed_org_ids,
    unitIds: fence.unit_ids,
    releasedUnitIds: fence.released_unit_ids,
    startsAt: rank(fence.starts_at),
    endsAt: fence.ends_at === null ? null : rank(fence.ends_at),
  }));
  const config = view.pool && { sharing: view.pool.sharing };
  const rows = { gateId: view.gateId, config, nodes, reservations, unitReservations, waiters: [] };
  return rows as unknown as PoolSnapshot;
}

function plainUnit(row: UnitRow): { readonly row: UnitRow; readonly unit: object } {
  const { id, model, profile, healthy, removed, index } = row;
  const unit = {
    id,
    class: row.class,
    index,
    model,
    profile,
    memoryGiB: row.memory_gib,
    nvlinkDomain: row.nvlink_domain,
    parentUnitId: row.parent_unit_id,
    healthy,
    removed,
  };
  return { row, unit };
}
