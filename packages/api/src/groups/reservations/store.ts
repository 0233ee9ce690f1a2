/** What the reservation methods read from the database. */
import { type Database, type KeyClaim, gatheringBy } from "@berth/db";
import type {
  NodeId,
  PoolId,
  ProjectId,
  Reservation,
  ReservationId,
  ReservationState,
  TenantId,
  UnitId,
} from "@berth/domain";
import type { NodeFacts, UnitFacts } from "./view.ts";

/** A reservation's row; numbers cross as JSON, so they are numbers. */
function columns(db: Database) {
  return db.sql`jsonb_build_object(
    'id', r.id, 'poolId', r.pool_id, 'tenantId', r.tenant_id,
    'chargedTenantId', r.charged_tenant_id, 'projectId', r.project_id, 'state', r.state,
    'binding', r.binding, 'gang', r.gang, 'node', r.node_setup, 'spot', r.spot,
    'start', r.start, 'end', r."end", 'startedAt', r.started_at, 'preemption', r.preemption,
    'degraded', r.degraded, 'pins', r.pins,
    'leaseSeconds', r.lease_seconds, 'leaseExpiresAt', r.lease_expires_at,
    'endingSoonAt', r.ending_soon_at, 'topology', r.topology, 'devices', r.devices,
    'resources', r.resources, 'members', r.members, 'endedAt', r.ended_at,
    'endReason', r.end_reason, 'version', r.version, 'createdBy', r.created_by,
    'createdAt', r.created_at, 'updatedAt', r.updated_at)`;
}

export interface StoredReservation {
  readonly reservation: Reservation;
  /** The place in the pool's order that it is true at. */
  readonly seq: number;
}

export async function reservationRow(
  db: Database,
  id: ReservationId,
): Promise<StoredReservation | null> {
  const [row] = await db.sql<StoredReservation[]>`
    select ${columns(db)} as reservation, g.seq
    from reservations r join gates g on g.id = r.pool_id
    where r.id = ${id}`;
  return row ?? null;
}

export interface KeyRow {
  readonly requestHash: string;
  readonly reservationId: ReservationId;
  readonly poolId: PoolId;
}

type Key = Pick<KeyClaim, "tenantId" | "principal" | "key">;

const keyRows = gatheringBy(
  async ({ sql }: Database, keys: readonly Key[]): Promise<(KeyRow | null)[]> => {
    const asked = keys.map(({ tenantId, principal, key }, n) => ({ n, tenantId, principal, key }));
    // A lookup each, never a join that is planned as a scan of all keys.
    const rows = await sql<KeyRow[]>`
      select k.*
      from jsonb_to_recordset(${JSON.stringify(asked)}::text::jsonb) a (n integer, "tenantId" text, principal text, key text)
      left join lateral (
        select r.request_hash as "requestHash", r.reservation_id as "reservationId", r.pool_id as "poolId"
        from reservation_keys r
        where (r.tenant_id, r.principal, r.key) = (a."tenantId", a.principal, a.key)
        limit 1
      ) k on true
      order by a.n`;
    return keys.map((_, i) => (rows[i]?.reservationId ? rows[i] : null));
  },
);

/** What the caller's key made, if it was used. One statement for all who ask together. */
export function keyRow(db: Database, key: Key): Promise<KeyRow | null> {
  return keyRows(db, key);
}

export interface PageAsk {
  readonly tenantId: TenantId;
  /** Only those of these pools: what the caller may read. */
  readonly poolIds: readonly PoolId[];
  readonly projectId: ProjectId | null;
  readonly states: readonly ReservationState[] | null;
  readonly from: number | null;
  readonly to: number | null;
  /** After this one, newest first. */
  readonly after: { readonly createdAt: number; readonly id: ReservationId } | null;
  readonly limit: number;
}

/** Newest first by (createdAt, id). */
export async function reservationPage(db: Database, ask: PageAsk): Promise<Reservation[]> {
  const { after } = ask;
  const rows = await db.sql<{ reservation: Reservation }[]>`
    select ${columns(db)} as reservation
    from reservations r
    where r.tenant_id = ${ask.tenantId}
      and r.pool_id = any(${[...ask.poolIds]}::text[])
      and (${ask.projectId}::text is null or r.project_id = ${ask.projectId})
      and (${ask.states === null}::boolean or r.state = any(${[...(ask.states ?? [])]}::text[]))
      and (${ask.from}::bigint is null or r."end" > ${ask.from})
      and (${ask.to}::bigint is null or r.start < ${ask.to})
      and (${after === null}::boolean
        or (r.created_at, r.id) < (${after?.createdAt ?? 0}::bigint, ${after?.id ?? ""}::text))
    order by r.created_at desc, r.id desc
    limit ${ask.limit}`;
  return rows.map((row) => row.reservation);
}

export interface MemberFacts {
  readonly nodes: ReadonlyMap<NodeId, NodeFacts>;
  readonly units: ReadonlyMap<UnitId, UnitFacts>;
}

/** Nodes and units of the reservations' members, those that have gone since included. Two statements. */
export async function memberFacts(
  db: Database,
  reservations: readonly Reservation[],
): Promise<MemberFacts> {
  const members = reservations.flatMap((r) => r.members);
  const nodeIds = [...new Set(members.map((m) => m.nodeId))];
  const unitIds = [...new Set(members.flatMap((m) => m.unitIds))];
  const [nodes, units] = await Promise.all([
    db.sql<({ id: NodeId } & NodeFacts)[]>`
      select id, name, address from nodes where id = any(${nodeIds}::text[])`,
    db.sql<({ id: UnitId } & UnitFacts)[]>`
      select id, class, model, profile, gpu_uuid as "gpuUuid", index,
        parent_unit_id as "parentUnitId"
      from units where id = any(${unitIds}::text[])`,
  ]);
  return {
    nodes: new Map(nodes.map((node) => [node.id, node])),
    units: new Map(units.map((unit) => [unit.id, unit])),
  };
}
