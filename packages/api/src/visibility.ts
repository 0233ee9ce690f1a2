/**
 * What a tenant may know of. Each question is one statement with the same text whatever the answer is, so
 * a thing that is hidden and a thing that is not there cost the same work and look the same.
 */
import { type Database, gatheringBy } from "@berth/db";
import type {
  GateId,
  KeyId,
  MaintenanceId,
  NodeId,
  PoolClass,
  PoolId,
  ReservationId,
  SharingMode,
  SiteId,
  TenantId,
  UnitId,
} from "@berth/domain";
import type { Call, TenantScope, VisibleNode, VisiblePool } from "./call.ts";

/** Deepest tenant tree that is walked; putTenant refuses a deeper one. */
export const TENANT_DEPTH_MAX = 32;

/** `up`: for each question by its number, the tenant that asks and its parents, by how far above it they are. */
const upwards = ({ sql }: Pick<Database, "sql">) => sql`up(n, id, parent, depth) as (
    select asked.n, t.tenant_id, t.parent_id, 0 from asked join tenants t on t.tenant_id = asked.tenant_id
    union all
    select up.n, t.tenant_id, t.parent_id, up.depth + 1
    from tenants t join up on t.tenant_id = up.parent
    where up.depth < ${TENANT_DEPTH_MAX}
  ), chains as (
    select asked.*,
      (select coalesce(jsonb_agg(up.id order by up.depth), '[]') from up where up.n = asked.n) as chain
    from asked
  )`;

/** Questions as the statement reads them: with their places, in which they are answered. */
const numbered = (asked: readonly object[]): string =>
  JSON.stringify(asked.map((question, n) => ({ ...question, n })));

const tenantChains = gatheringBy(
  async ({ sql }: Database, asked: readonly { readonly tenantId: TenantId }[]) => {
    const rows = await sql<Seen[]>`
      with recursive asked as (
          select a.n, a."tenantId" as tenant_id
          from jsonb_to_recordset(${numbered(asked)}::text::jsonb) a (n integer, "tenantId" text)
        ), ${upwards({ sql })}
        select chain from chains order by n`;
    return asked.map((_, i) => rows[i]?.chain ?? []);
  },
);

/** The tenant and its parents, nearest first; empty when there is no such tenant. One statement for all who ask together. */
export function tenantChain(db: Database, tenantId: TenantId): Promise<readonly TenantId[]> {
  return tenantChains(db, { tenantId });
}

interface PoolRow {
  readonly poolId: PoolId;
  readonly ownerId: string;
  readonly archived: boolean;
  readonly version: number;
  readonly gpuModel: string | null;
  readonly class: PoolClass;
  readonly sharing: SharingMode;
  readonly region: string;
  readonly offeredTenantId: string;
}

function toVisible(row: PoolRow, tenantId: TenantId): VisiblePool {
  return {
    poolId: row.poolId,
    ownerId: row.ownerId,
    owned: row.ownerId === tenantId,
    archived: row.archived,
    version: Number(row.version),
    gpuModel: row.gpuModel,
    class: row.class,
    sharing: row.sharing,
    region: row.region,
    offeredTenantId: row.offeredTenantId,
    descendant: row.offeredTenantId !== tenantId,
  };
}

/** What one statement tells: the tenant with its parents, as `tenantChain`, and the thing that was named. */
interface Seen {
  readonly chain: readonly TenantId[];
}
export interface PoolSeen extends Seen {
  readonly pool: VisiblePool | null;
}
export interface ReservationSeen extends Seen {
  readonly found: ReservationSight | null;
}

interface PoolQuestion {
  readonly tenantId: TenantId;
  readonly poolId: PoolId;
}

type PoolSeenRow = Partial<PoolRow> & Seen;

const poolSights = gatheringBy(
  async ({ sql }: Database, asked: readonly PoolQuestion[]): Promise<PoolSeen[]> => {
    const rows = await sql<PoolSeenRow[]>`
      with recursive asked as (
          select a.n, a."tenantId" as tenant_id, a."poolId" as pool_id
          from jsonb_to_recordset(${numbered(asked)}::text::jsonb) a (n integer, "tenantId" text, "poolId" text)
        ), ${upwards({ sql })}
        select chains.chain, seen.*
        from chains left join lateral (
          select p.id as "poolId", p.tenant_id as "ownerId", p.archived_at is not null as archived,
            a.version, a.gpu_model as "gpuModel", a.class, a.sharing, a.region,
            a.tenant_id as "offeredTenantId"
          from pool_authz a
          join up on up.n = chains.n and up.id = a.tenant_id
          join pools p on p.id = a.pool_id
          left join offers o on o.pool_id = a.pool_id and o.tenant_id = a.tenant_id
          where a.pool_id = chains.pool_id
            and (a.tenant_id = chains.tenant_id or o.include_descendants)
            and (p.archived_at is null or p.tenant_id = chains.tenant_id)
          order by up.depth
          limit 1
        ) seen on true
        order by chains.n`;
    return asked.map(({ tenantId }, i) => {
      const row = rows[i];
      return {
        chain: row?.chain ?? [],
        pool: row && isPool(row) ? toVisible(row, tenantId) : null,
      };
    });
  },
);

/**
 * The tenant's chain, and the pool as the tenant may see it: its own (archived too), offered to it, or offered
 * to its nearest offered ancestor with descendants included; null otherwise. One statement for all who ask together.
 */
export function poolSight(db: Database, tenantId: TenantId, poolId: PoolId): Promise<PoolSeen> {
  return poolSights(db, { tenantId, poolId });
}

/** The pool as `poolSight` shows it, to a tenant whose chain is known. */
export async function visiblePool(
  call: Call,
  scope: TenantScope,
  poolId: PoolId,
): Promise<VisiblePool | null> {
  return (await poolSight(call.deps.db, scope.tenantId, poolId)).pool;
}

const isPool = (row: Partial<PoolRow>): row is PoolRow => typeof row.poolId === "string";

/** Every pool that `poolSight` would show, by id. One statement. */
export async function visiblePools(call: Call, scope: TenantScope): Promise<VisiblePool[]> {
  const chain = [scope.tenantId, ...scope.ancestors];
  const rows = await call.deps.db.sql<PoolRow[]>`
    select distinct on (p.id)
      p.id as "poolId", p.tenant_id as "ownerId", p.archived_at is not null as archived,
      a.version, a.gpu_model as "gpuModel", a.class, a.sharing, a.region,
      a.tenant_id as "offeredTenantId"
    from pool_authz a
    join pools p on p.id = a.pool_id
    left join offers o on o.pool_id = a.pool_id and o.tenant_id = a.tenant_id
    where a.tenant_id = any(${chain})
      and (a.tenant_id = ${scope.tenantId} or o.include_descendants)
      and (p.archived_at is null or p.tenant_id = ${scope.tenantId})
    order by p.id, array_position(${chain}::text[], a.tenant_id)`;
  return rows.map((row) => toVisible(row, scope.tenantId));
}

/**
 * The pools in which the tenant has reservations of any state, offered still or not: an existing
 * reservation is decided with its pool's attributes whatever became of the offer.
 */
export async function bookedPools(call: Call, scope: TenantScope): Promise<VisiblePool[]> {
  const rows = await call.deps.db.sql<PoolRow[]>`
    select p.id as "poolId", p.tenant_id as "ownerId", p.archived_at is not null as archived,
      p.version, p.gpu_model as "gpuModel", p.class, p.sharing, p.region,
      ${scope.tenantId} as "offeredTenantId"
    from pools p
    where exists (
      select 1 from reservations r where r.pool_id = p.id and r.tenant_id = ${scope.tenantId})
    order by p.id`;
  return rows.map((row) => toVisible(row, scope.tenantId));
}

export interface ReservationSight {
  readonly pool: VisiblePool;
  readonly id: ReservationId;
  readonly tenantId: TenantId;
}

interface ReservationQuestion {
  readonly tenantId: TenantId;
  readonly id: ReservationId;
  readonly asOwner: boolean;
  readonly asFleet: boolean;
}

type ReservationRow = Partial<PoolRow> & Seen & { reservationTenant: string };

const reservationSights = gatheringBy(
  async ({ sql }: Database, asked: readonly ReservationQuestion[]): Promise<ReservationSeen[]> => {
    const rows = await sql<ReservationRow[]>`
      with recursive asked as (
          select a.n, a."tenantId" as tenant_id, a.id, a."asOwner" as as_owner, a."asFleet" as as_fleet
          from jsonb_to_recordset(${numbered(asked)}::text::jsonb)
            a (n integer, "tenantId" text, id text, "asOwner" boolean, "asFleet" boolean)
        ), ${upwards({ sql })}
        select chains.chain, seen.*
        from chains left join lateral (
          select p.id as "poolId", p.tenant_id as "ownerId", p.archived_at is not null as archived,
            p.version, p.gpu_model as "gpuModel", p.class, p.sharing, p.region,
            r.charged_tenant_id as "offeredTenantId", r.tenant_id as "reservationTenant"
          from reservations r
          join pools p on p.id = r.pool_id
          where r.id = chains.id
            and (r.tenant_id = chains.tenant_id
              or (chains.as_owner and p.tenant_id = chains.tenant_id)
              or chains.as_fleet)
          -- A lookup by id each, never a join that is planned as a scan of all reservations.
          limit 1
        ) seen on true
        order by chains.n`;
    return asked.map((question, i) => reservationSeen(question, rows[i]));
  },
);

function reservationSeen(
  { id, tenantId }: ReservationQuestion,
  row: ReservationRow | undefined,
): ReservationSeen {
  const chain = row?.chain ?? [];
  if (!row || !isPool(row)) return { chain, found: null };
  const pool = toVisible(row, tenantId);
  const mine = row.reservationTenant === tenantId;
  return {
    chain,
    found: {
      pool: mine ? pool : { ...pool, offeredTenantId: tenantId, descendant: false },
      id,
      tenantId: row.reservationTenant,
    },
  };
}

/**
 * The tenant's chain, and a reservation of the tenant; with `asOwner` also one in a pool that the tenant owns,
 * with `asFleet` any. Whether the pool is still offered plays no part. One statement for all who ask together.
 */
export function reservationSight(
  db: Database,
  tenantId: TenantId,
  ask: { id: ReservationId; asOwner: boolean; asFleet: boolean },
): Promise<ReservationSeen> {
  return reservationSights(db, { tenantId, ...ask });
}

interface NodeRow {
  readonly id: NodeId;
  readonly siteId: SiteId;
  readonly tenantId: string;
  readonly gateId: GateId;
  readonly poolId: PoolId | null;
}

export type NodeKey =
  | { readonly nodeId: NodeId }
  | { readonly unitId: UnitId }
  | { readonly maintenanceId: MaintenanceId };

/** The node that the id names or belongs to, whoever asks; authorize.ts decides whether it may be known. */
export async function findNode(call: Call, key: NodeKey): Promise<VisibleNode | null> {
  const id = nodeIdQuery(call.deps.db, key);
  const [row] = await call.deps.db.sql<NodeRow[]>`
    select n.id, n.site_id as "siteId", s.tenant_id as "tenantId", n.gate_id as "gateId",
      n.pool_id as "poolId"
    from nodes n join sites s on s.id = n.site_id
    where n.removed_at is null and n.id = ${id}`;
  return row ?? null;
}

function nodeIdQuery(db: Database, key: NodeKey) {
  if ("nodeId" in key) return db.sql`${key.nodeId}`;
  if ("unitId" in key) return db.sql`(select node_id from units where id = ${key.unitId})`;
  return db.sql`(select node_id from maintenance where id = ${key.maintenanceId})`;
}

/** The tenant that a site belongs to; null when there is no such site. */
export async function siteTenant(call: Call, siteId: SiteId): Promise<TenantId | null> {
  const [row] = await call.deps.db.sql<{ id: string }[]>`
    select tenant_id as id from sites where id = ${siteId}`;
  return row?.id ?? null;
}

/** The tenant that a key belongs to; null when there is no such key. */
export async function keyTenant(call: Call, keyId: KeyId): Promise<TenantId | null> {
  const [row] = await call.deps.db.sql<{ id: string }[]>`
    select tenant_id as id from api_keys where id = ${keyId}`;
  return row?.id ?? null;
}

export interface UnitSight {
  readonly node: VisibleNode;
  /** The caller's tenant, or one below it, owns the node. */
  readonly owned: boolean;
  /** Such a tenant manages the unit reservation; when none was named, one of the node's. */
  readonly managed: boolean;
}

/** The node, with the unit reservation when one is named; null when either is not there. */
export async function unitSight(
  call: Call,
  ask: { readonly nodeId: NodeId; readonly reservationId: string | null },
): Promise<UnitSight | null> {
  const { nodeId, reservationId } = ask;
  const [row] = await call.deps.db.sql<(NodeRow & { owned: boolean; managed: boolean })[]>`
    with recursive named as (
      select n.id, n.site_id, s.tenant_id, n.gate_id, n.pool_id
      from nodes n join sites s on s.id = n.site_id
      where n.removed_at is null and n.id = ${nodeId}
        and (${reservationId}::text is null or exists (
          select 1 from unit_reservations u where u.id = ${reservationId} and u.node_id = n.id))
    ), up(manages, parent, id, depth) as (
      select seat.manages, t.parent_id, t.tenant_id, 0
      from (
        select false as manages, tenant_id as id from named
        union
        select true, org.id
        from unit_reservations u join named on named.id = u.node_id
        cross join jsonb_array_elements_text(u.managing_org_ids) as org(id)
        where ${reservationId}::text is null or u.id = ${reservationId}
      ) seat join tenants t on t.tenant_id = seat.id
      union all
      select up.manages, t.parent_id, t.tenant_id, up.depth + 1
      from tenants t join up on t.tenant_id = up.parent
      where up.depth < ${TENANT_DEPTH_MAX}
    )
    select named.id, named.site_id as "siteId", named.tenant_id as "tenantId",
      named.gate_id as "gateId", named.pool_id as "poolId",
      exists (select 1 from up where not manages and up.id = ${call.principal.tenantId}) as owned,
      exists (select 1 from up where manages and up.id = ${call.principal.tenantId}) as managed
    from named`;
  if (!row) return null;
  const { owned, managed, ...node } = row;
  return { node, owned, managed };
}
