/** What the unit reservations' methods read from the database. */
import type { Database } from "@berth/db";
import type {
  GateId,
  NodeId,
  PoolId,
  SiteId,
  TenantId,
  UnitReservation,
  UnitReservationId,
  UnitReservationStatus,
} from "@berth/domain";
import { TENANT_DEPTH_MAX } from "../../visibility.ts";

/** Those of the ids that are no tenant's. */
export async function unknownTenants(db: Database, ids: readonly TenantId[]): Promise<TenantId[]> {
  const rows = await db.sql<{ id: TenantId }[]>`
    select asked.id from unnest(${[...ids]}::text[]) as asked(id)
    where not exists (select 1 from tenants t where t.tenant_id = asked.id)`;
  return rows.map(({ id }) => id);
}

/** A row; numbers cross as JSON, so they are numbers. */
function columns(db: Database) {
  return db.sql`jsonb_build_object(
    'id', u.id, 'nodeId', u.node_id, 'status', u.status, 'allowedOrgIds', u.allowed_org_ids,
    'managingOrgIds', u.managing_org_ids, 'unitIds', u.unit_ids,
    'releasedUnitIds', u.released_unit_ids, 'startsAt', u.starts_at, 'endsAt', u.ends_at,
    'endedAt', u.ended_at, 'topologyGen', u.topology_gen, 'reason', u.reason,
    'contractRef', u.contract_ref, 'createdBy', u.created_by, 'createdAt', u.created_at,
    'updatedAt', u.updated_at)`;
}

export async function unitReservationRow(
  db: Database,
  id: UnitReservationId,
): Promise<UnitReservation | null> {
  const [row] = await db.sql<{ row: UnitReservation }[]>`
    select ${columns(db)} as row from unit_reservations u where u.id = ${id}`;
  return row?.row ?? null;
}

export interface PageAsk {
  readonly nodeId: NodeId | null;
  readonly status: UnitReservationStatus | null;
  /** Only those on nodes of this tenant and those below it, and those that they manage; null: all. */
  readonly under: TenantId | null;
  /** After this one, newest first. */
  readonly after: string | null;
  readonly limit: number;
}

export interface UnitReservationRow {
  readonly row: UnitReservation;
  readonly siteId: SiteId;
  readonly tenantId: TenantId;
  readonly gateId: GateId;
  readonly poolId: PoolId | null;
  readonly owned: boolean;
  readonly managed: boolean;
}

/** Tenants at and below the one that looks. */
function below(db: Database, under: TenantId | null) {
  return db.sql`below(id, depth) as (
    select tenant_id, 0 from tenants where tenant_id = ${under}
    union all
    select t.tenant_id, below.depth + 1
    from tenants t join below on t.parent_id = below.id
    where below.depth < ${TENANT_DEPTH_MAX})`;
}

/** Newest first: ids are made in the order of time. */
export async function unitReservationPage(
  db: Database,
  ask: PageAsk,
): Promise<UnitReservationRow[]> {
  const { nodeId, status, under, after } = ask;
  const rows = await db.sql<UnitReservationRow[]>`
    with recursive ${below(db, under)}
    select * from (
      select u.id, ${columns(db)} as row, n.site_id as "siteId", s.tenant_id as "tenantId",
        n.gate_id as "gateId", n.pool_id as "poolId",
        s.tenant_id in (select below.id from below) as owned,
        u.managing_org_ids ?| array(select below.id from below) as managed
      from unit_reservations u
      join nodes n on n.id = u.node_id and n.removed_at is null
      join sites s on s.id = n.site_id
      where (${nodeId}::text is null or u.node_id = ${nodeId})
        and (${status}::text is null or u.status = ${status})
        and (${after}::text is null or u.id < ${after})
    ) seen
    where ${under === null}::boolean or owned or managed
    order by id desc
    limit ${ask.limit}`;
  return [...rows];
}

/** Gates in which a term has begun or ended that is not stored so yet. */
export async function gatesWithDueTerms(db: Database, nodeId: NodeId | null): Promise<GateId[]> {
  const rows = await db.sql<{ gateId: GateId }[]>`
    select distinct n.gate_id as "gateId"
    from unit_reservations u join nodes n on n.id = u.node_id, berth.now_ms() as now
    where u.ended_at is null and (${nodeId}::text is null or u.node_id = ${nodeId})
      and (u.ends_at <= now or (u.status = 'pending' and u.starts_at <= now))`;
  return rows.map(({ gateId }) => gateId);
}
