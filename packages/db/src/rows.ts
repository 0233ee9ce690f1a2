/** Rows of the database as the domain's nouns. Every number of a JSON answer is checked here. */
import type {
  Maintenance,
  Node,
  Offer,
  PoolConfig,
  QuotaRow,
  Reservation,
  RollupRow,
  Unit,
  UnitReservation,
  Waiter,
} from "@berth/domain";
import { int, intOrNull } from "./numbers.ts";

/** A row as JSON gives it: columns as keys; the schema's checks vouch for the text values. */
type Row = Readonly<Record<string, unknown>>;
const rowsOf = (value: unknown): readonly Row[] => value as readonly Row[];
const as = <T>(value: unknown): T => value as T;

export function reservationOf(row: Row): Reservation {
  return {
    id: as(row["id"]),
    poolId: as(row["pool_id"]),
    tenantId: as(row["tenant_id"]),
    chargedTenantId: as(row["charged_tenant_id"]),
    projectId: as(row["project_id"]),
    state: as(row["state"]),
    binding: as(row["binding"]),
    gang: as(row["gang"]),
    node: as(row["node_setup"]),
    spot: as(row["spot"]),
    start: int(row["start"]),
    end: int(row["end"]),
    startedAt: intOrNull(row["started_at"]),
    preemption: as(row["preemption"]),
    degraded: as(row["degraded"]),
    pins: as(row["pins"]),
    leaseSeconds: intOrNull(row["lease_seconds"]),
    leaseExpiresAt: intOrNull(row["lease_expires_at"]),
    endingSoonAt: intOrNull(row["ending_soon_at"]),
    topology: as(row["topology"]),
    devices: as(row["devices"]),
    resources: as(row["resources"]),
    members: as(row["members"]),
    endedAt: intOrNull(row["ended_at"]),
    endReason: as(row["end_reason"]),
    version: int(row["version"]),
    createdBy: as(row["created_by"]),
    createdAt: int(row["created_at"]),
    updatedAt: int(row["updated_at"]),
  };
}

export function unitReservationOf(row: Row): UnitReservation {
  return {
    id: as(row["id"]),
    nodeId: as(row["node_id"]),
    status: as(row["status"]),
    allowedOrgIds: as(row["allowed_org_ids"]),
    managingOrgIds: as(row["managing_org_ids"]),
    unitIds: as(row["unit_ids"]),
    releasedUnitIds: as(row["released_unit_ids"]),
    startsAt: int(row["starts_at"]),
    endsAt: intOrNull(row["ends_at"]),
    endedAt: intOrNull(row["ended_at"]),
    topologyGen: int(row["topology_gen"]),
    reason: as(row["reason"]),
    contractRef: as(row["contract_ref"]),
    createdBy: as(row["created_by"]),
    createdAt: int(row["created_at"]),
    updatedAt: int(row["updated_at"]),
  };
}

export function waiterOf(row: Row): Waiter {
  return {
    id: as(row["id"]),
    poolId: as(row["pool_id"]),
    tenantId: as(row["tenant_id"]),
    ancestors: as(row["ancestors"]),
    priority: int(row["priority"]),
    since: int(row["since"]),
    deadline: int(row["deadline"]),
    serverId: as(row["server_id"]),
    key: as(row["key"]),
    ask: as(row["ask"]),
  };
}

export function nodeOf(row: Row): Node {
  const units = rowsOf(row["units"]);
  return {
    id: as(row["id"]),
    siteId: as(row["site_id"]),
    ownerId: as(row["owner_id"]),
    name: as(row["name"]),
    address: as(row["address"]),
    state: as(row["state"]),
    labels: as(row["labels"]),
    scalars: {
      vcpu: int(row["vcpu"]),
      memoryGiB: int(row["memory_gib"]),
      hugepages1Gi: int(row["hugepages_1gi"]),
    },
    topologyGen: int(row["topology_gen"]),
    version: int(row["version"]),
    tenantOwned: as(row["tenant_owned"]),
    maintenance: rowsOf(row["maintenance"]).map(maintenanceOf),
    units: units.filter(({ carrier }) => carrier === false).map(unitOf),
    gpus: units.filter(({ carrier }) => carrier === true).map(unitOf),
  };
}

function maintenanceOf(row: Row): Maintenance {
  return {
    id: as(row["id"]),
    start: int(row["start"]),
    end: int(row["end"]),
    active: row["state"] === "active",
  };
}

function unitOf(row: Row): Unit {
  return {
    id: as(row["id"]),
    key: int(row["key"]),
    class: as(row["class"]),
    index: int(row["index"]),
    model: as(row["model"]),
    profile: as(row["profile"]),
    placement: intOrNull(row["placement"]),
    gpuUuid: as(row["gpu_uuid"]),
    memoryGiB: intOrNull(row["memory_gib"]),
    nvlinkDomain: as(row["nvlink_domain"]),
    vfioGroup: as(row["vfio_group"]),
    pciAddress: as(row["pci_address"]),
    parentUnitId: as(row["parent_unit_id"]),
    healthy: as(row["healthy"]),
    removed: as(row["removed"]),
    migProfiles: as(row["mig_profiles"]),
  };
}

export function configOf(row: Row): PoolConfig {
  return {
    id: as(row["id"]),
    tenantId: as(row["tenant_id"]),
    siteId: as(row["site_id"]),
    siteKind: as(row["site_kind"]),
    region: as(row["region"]),
    class: as(row["class"]),
    gpuModel: as(row["gpu_model"]),
    sharing: as(row["sharing"]),
    agent: as(row["agent"]),
    policy: as(row["policy"]),
    providerAccountId: as(row["provider_account_id"]),
    version: int(row["version"]),
    archivedAt: intOrNull(row["archived_at"]),
    createdBy: as(row["created_by"]),
    createdAt: int(row["created_at"]),
    updatedAt: int(row["updated_at"]),
    offers: rowsOf(row["offers"]).map(offerOf),
    quotas: rowsOf(row["quotas"]).map(quotaOf),
  };
}

function offerOf(row: Row): Offer {
  return {
    tenantId: as(row["tenant_id"]),
    includeDescendants: as(row["include_descendants"]),
    priority: int(row["priority"]),
  };
}

function quotaOf(row: Row): QuotaRow {
  return { tenantId: as(row["tenant_id"]), resource: as(row["resource"]), max: int(row["max"]) };
}

export function quotaUsedOf(row: Row): { tenantId: string; resource: string; used: number } {
  return { tenantId: as(row["tenant_id"]), resource: as(row["resource"]), used: int(row["used"]) };
}

export function rollupOf(row: Row): RollupRow {
  return {
    resource: as(row["resource"]),
    total: int(row["total"]),
    allocatable: int(row["allocatable"]),
    allocated: int(row["allocated"]),
    reserved: int(row["reserved"]),
    available: int(row["available"]),
    provisioning: int(row["provisioning"]),
    unhealthy: int(row["unhealthy"]),
    maintenance: int(row["maintenance"]),
    unreachable: int(row["unreachable"]),
  };
}
