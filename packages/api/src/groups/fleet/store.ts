/** The fleet's reads by statement: which nodes there are and where. */
import type { Database } from "@berth/db";
import type { GateId, NodeId, NodeState, PoolId, SiteId, TenantId } from "@berth/domain";

interface NodePlace {
  readonly id: NodeId;
  readonly gateId: GateId;
  readonly poolId: PoolId | null;
}

export interface KnownNode extends NodePlace {
  readonly siteId: SiteId;
  readonly removed: boolean;
  readonly version: number;
  readonly topologyGen: number;
}

/** Where those of the nodes are, or were, that were ever registered. */
export async function knownNodes(
  db: Database,
  ids: readonly NodeId[],
): Promise<Map<NodeId, KnownNode>> {
  const rows = await db.sql<KnownNode[]>`
    select id, site_id as "siteId", gate_id as "gateId", pool_id as "poolId", removed_at is not null as removed,
      version, topology_gen as "topologyGen"
    from nodes where id = any(${[...ids]}::text[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

export interface HeldGpu {
  readonly uuid: string;
  readonly nodeId: NodeId;
  readonly nodeName: string;
}

/** Which nodes of the site hold GPUs with these uuids now. */
export async function gpusOfSite(
  db: Database,
  siteId: SiteId,
  uuids: readonly string[],
): Promise<HeldGpu[]> {
  if (uuids.length === 0) return [];
  const rows = await db.sql<HeldGpu[]>`
    select u.gpu_uuid as uuid, n.id as "nodeId", n.name as "nodeName"
    from nodes n join units u on u.node_id = n.id
    where n.site_id = ${siteId} and n.removed_at is null
      and u.gone_at is null and not u.removed and u.class = 'gpu' and u.gpu_uuid = any(${[...uuids]}::text[])`;
  return [...rows];
}

export interface NodeFilter {
  readonly tenantId: TenantId;
  /** Pools whose nodes the tenant may see. */
  readonly poolIds: readonly PoolId[];
  /** Whether nodes of its own sites that are in no pool, or in another, are in reach. */
  readonly ownSites: boolean;
  readonly poolId?: PoolId | undefined;
  readonly siteId?: SiteId | undefined;
  readonly state?: NodeState | undefined;
  readonly after: string | null;
  readonly limit: number;
}

export interface NodeRow extends NodePlace {
  readonly siteId: SiteId;
  readonly tenantId: TenantId;
}

/** By id, after the given one. */
export async function nodePage(db: Database, filter: NodeFilter): Promise<NodeRow[]> {
  const { tenantId, ownSites, poolId = null, siteId = null, state = null } = filter;
  const rows = await db.sql<NodeRow[]>`
    select n.id, n.gate_id as "gateId", n.pool_id as "poolId", n.site_id as "siteId",
      s.tenant_id as "tenantId"
    from nodes n join sites s on s.id = n.site_id
    where n.removed_at is null
      and (n.pool_id = any(${[...filter.poolIds]}::text[])
        or (${ownSites}::boolean and s.tenant_id = ${tenantId}))
      and (${poolId}::text is null or n.pool_id = ${poolId})
      and (${siteId}::text is null or n.site_id = ${siteId})
      and (${state}::text is null or n.state = ${state})
      and n.id > ${filter.after ?? ""}
    order by n.id
    limit ${filter.limit}`;
  return [...rows];
}
