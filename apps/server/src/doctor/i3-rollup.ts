/**
 * I3: every stored capacity row equals a recount of nodes, units and live bookings at the instant up to
 * which the pool has applied what was due.
 */
import type { Check, Query, Violation } from "./query.ts";
import { appliedUntil, liveReservations, nodes, units } from "./rows.ts";
import type { NodeRow, ReservationRow, UnitRow } from "./rows.ts";
import { groupBy, peak } from "./sweep.ts";

const STATES = ["provisioning", "unhealthy", "maintenance", "unreachable"] as const;
const COUNTS = ["total", "allocatable", "allocated", "reserved", "available", ...STATES] as const;
type Count = (typeof COUNTS)[number];
type Counts = Record<Count, number>;
const SCALARS = ["vcpu", "memoryGiB", "hugepages1Gi"] as const;

interface Held {
  readonly reservation: ReservationRow;
  readonly unitIds: readonly string[];
  readonly resources: Readonly<Record<string, number>>;
}

interface PoolRows {
  readonly now: number;
  readonly nodes: readonly NodeRow[];
  readonly unitsOf: ReadonlyMap<string, readonly UnitRow[]>;
  readonly heldOn: ReadonlyMap<string, readonly Held[]>;
  readonly underMaintenance: ReadonlySet<string>;
  /** GPUs that are shared out, by id. */
  readonly carriers: ReadonlyMap<string, UnitRow>;
}

const none = (): Counts => ({
  total: 0,
  allocatable: 0,
  allocated: 0,
  reserved: 0,
  available: 0,
  provisioning: 0,
  unhealthy: 0,
  maintenance: 0,
  unreachable: 0,
});

/** One thing's share of a row; `available` gathers what of it is allocatable and taken, until the end. */
interface Part {
  readonly resource: string;
  readonly state: string;
  readonly amount: number;
  readonly allocated: number;
  readonly reserved: number;
}

function nodeState(node: NodeRow, pool: PoolRows): string {
  if (pool.underMaintenance.has(node.id)) return "maintenance";
  return node.state === "ready" ? "allocatable" : node.state;
}

function unitState(unit: UnitRow, node: NodeRow, pool: PoolRows): string {
  const broken = ({ healthy, removed }: UnitRow) => !healthy || removed;
  const carrier = pool.carriers.get(unit.parentUnitId ?? "");
  const faulty = broken(unit) || (carrier !== undefined && broken(carrier));
  return faulty && node.state !== "unreachable" ? "unhealthy" : nodeState(node, pool);
}

/** Live at the pool's instant, or only later. */
const runs = (held: Held, now: number) =>
  held.reservation.start <= now && now < held.reservation.end;
const comes = (held: Held, now: number) => held.reservation.start > now;

function unitParts(node: NodeRow, pool: PoolRows): Part[] {
  const held = pool.heldOn.get(node.id) ?? [];
  const running = new Set(held.filter((h) => runs(h, pool.now)).flatMap((h) => h.unitIds));
  const coming = new Set(held.filter((h) => comes(h, pool.now)).flatMap((h) => h.unitIds));
  return (pool.unitsOf.get(node.id) ?? [])
    .filter((unit) => !unit.gone && !unit.carrier)
    .map((unit) => ({
      resource: unit.class,
      state: unitState(unit, node, pool),
      amount: 1,
      allocated: running.has(unit.id) ? 1 : 0,
      reserved: coming.has(unit.id) ? 1 : 0,
    }));
}

function nodePart(node: NodeRow, pool: PoolRows): Part {
  const whole = (pool.heldOn.get(node.id) ?? []).filter((h) => h.reservation.binding === "node");
  return {
    resource: "node",
    state: nodeState(node, pool),
    amount: 1,
    allocated: whole.some((h) => runs(h, pool.now)) ? 1 : 0,
    reserved: whole.some((h) => comes(h, pool.now)) ? 1 : 0,
  };
}

/**
 * `reserved` of a scalar: the most that bookings which start later hold at one instant. A node that shrank
 * under its bookings counts no more than it has.
 */
function scalarParts(node: NodeRow, pool: PoolRows): Part[] {
  const held = pool.heldOn.get(node.id) ?? [];
  return SCALARS.map((resource) => {
    const spans = (which: readonly Held[]) =>
      which.map((h) => ({
        start: h.reservation.start,
        end: h.reservation.end,
        amount: h.resources[resource] ?? 0,
      }));
    const running = spans(held.filter((h) => runs(h, pool.now)));
    return {
      resource,
      state: nodeState(node, pool),
      amount: node[resource],
      allocated: Math.min(
        node[resource],
        running.reduce((sum, span) => sum + span.amount, 0),
      ),
      reserved: Math.min(
        node[resource],
        peak(spans(held.filter((h) => comes(h, pool.now)))).amount,
      ),
    };
  });
}

function recount(pool: PoolRows): Map<string, Counts> {
  const rows = new Map<string, Counts>();
  const parts = pool.nodes.flatMap((node) => [
    ...unitParts(node, pool),
    nodePart(node, pool),
    ...scalarParts(node, pool),
  ]);
  for (const [resource, group] of groupBy(parts, (part) => part.resource)) {
    const row = none();
    let takenOfAllocatable = 0;
    for (const part of group) {
      row.total += part.amount;
      row[part.state as Count] += part.amount;
      row.allocated += part.allocated;
      row.reserved += part.reserved;
      if (part.state === "allocatable") takenOfAllocatable += part.allocated + part.reserved;
    }
    row.available = Math.max(0, row.allocatable - takenOfAllocatable);
    rows.set(resource, row);
  }
  return rows;
}

function differences(poolId: string, stored: readonly StoredRow[], counted: Map<string, Counts>) {
  const byName = new Map(stored.map((row) => [row.resource, row]));
  const names = [...new Set([...byName.keys(), ...counted.keys()])].toSorted();
  return names.flatMap((resource): Violation[] => {
    const row = byName.get(resource) ?? none();
    const truth = counted.get(resource) ?? none();
    const wrong = COUNTS.filter((count) => row[count] !== truth[count]);
    if (wrong.length === 0) return [];
    const list = wrong.map((count) => `${count} ${row[count]}, counted ${truth[count]}`).join("; ");
    return [{ invariant: "I3", ids: [poolId], message: `${poolId} ${resource}: stored ${list}` }];
  });
}

type StoredRow = Counts & { readonly poolId: string; readonly resource: string };

function storedRows(query: Query): Promise<readonly StoredRow[]> {
  const columns = COUNTS.map((count) => `${count}::float8 as ${count}`).join(", ");
  return query<StoredRow>(`select pool_id as "poolId", resource, ${columns} from rollups`);
}

/** Nodes with a maintenance window over the instant up to which their gate has settled. */
async function underMaintenance(query: Query): Promise<ReadonlySet<string>> {
  const rows = await query<{ nodeId: string }>(
    `select m.node_id as "nodeId" from maintenance m join gates g on g.id = m.gate_id
      where m.state in ('scheduled', 'active') and m.start <= g.last_at and m."end" > g.last_at`,
  );
  return new Set(rows.map((row) => row.nodeId));
}

export const rollup: Check = {
  invariant: "I3",
  title: "stored capacity equals a recount",
  async run(query) {
    const until = await appliedUntil(query);
    const stored = groupBy(await storedRows(query), (row) => row.poolId);
    const pooled = (await nodes(query)).filter((node) => node.poolId !== null);
    const nodesOf = groupBy(pooled, (node) => node.poolId ?? "");
    const all = await units(query);
    const unitsOf = groupBy(all, (unit) => unit.nodeId);
    const there = all.filter(({ carrier, gone }) => carrier && !gone);
    const carriers = new Map(there.map((unit) => [unit.id, unit]));
    const heldOn = groupBy(
      (await liveReservations(query)).flatMap((reservation) =>
        reservation.members.map((member) => ({ ...member, reservation })),
      ),
      (held) => held.nodeId,
    );
    const underRepair = await underMaintenance(query);
    return [...new Set([...stored.keys(), ...nodesOf.keys()])].toSorted().flatMap((poolId) => {
      const rows = {
        now: until.get(poolId) ?? 0,
        nodes: nodesOf.get(poolId) ?? [],
        unitsOf,
        heldOn,
        underMaintenance: underRepair,
        carriers,
      };
      return differences(poolId, stored.get(poolId) ?? [], recount(rows));
    });
  },
};
