/**
 * A batch as the gate's SQL reads it. Sections that hold nothing are left out: the gate skips the
 * statement. Names are the columns'.
 */
import type { Change, GateId, Maintenance, Node, PoolConfig, Unit } from "@berth/domain";
import { eventRows } from "../emit.ts";
import { reservationSections } from "./batch-reservations.ts";
import { unitReservationSections, waiterSections } from "./batch-claims.ts";
import type { GateBatch } from "./types.ts";

export type ChangeOf<K extends Change["kind"]> = Extract<Change, { kind: K }>;

/** Throws when the batch is not one that a gate can take: a bug of the caller's. */
export function batchJson(gateId: GateId, batch: GateBatch): object {
  const config = batch.changes.find((change) => change.kind === "config");
  const nodes = batch.changes.filter((change) => change.kind === "node");
  const reservations = batch.changes.filter((change) => change.kind === "reservation");
  const waiters = batch.changes.filter((change) => change.kind === "waiter");
  for (const poolId of [
    ...reservations.map(({ after }) => after.poolId),
    ...waiters.flatMap(({ after }) => after?.poolId ?? []),
    config?.after.id ?? gateId,
  ])
    if (poolId !== gateId)
      throw new Error(`a change of ${poolId} is written through the gate ${gateId}`);
  return withoutEmpty({
    id: batch.id,
    create: creates(gateId, config, nodes),
    keys: batch.keys.map((claim) => ({
      tenant_id: claim.tenantId,
      principal: claim.principal,
      key: claim.key,
      request_hash: claim.requestHash,
      reservation_id: claim.reservationId,
    })),
    config: config && configJson(config.after, batch),
    ...nodeSections(nodes),
    ...reservationSections(reservations),
    ...unitReservationSections(batch.changes.filter((change) => change.kind === "unitReservation")),
    ...waiterSections(waiters),
    rollup: gateId.startsWith("pool_") ? batch.rollup : [],
    quotaUsed: batch.quotaUsed.map(({ tenantId, resource, used }) => ({
      tenant_id: tenantId,
      resource,
      used,
    })),
    events: eventRows(batch.events),
    audit: (batch.audit ?? []).map(({ principal, tenantId, method, target, requestId }) => ({
      principal,
      tenant_id: tenantId,
      method,
      target,
      request_id: requestId,
    })),
    nextDueAt: batch.nextDueAt ?? undefined,
    graceTo: batch.graceTo,
  });
}

/** Which kind of gate the batch may make. */
function creates(
  gateId: GateId,
  config: ChangeOf<"config"> | undefined,
  nodes: readonly ChangeOf<"node">[],
): "pool" | "node" | undefined {
  if (config?.before === null) return "pool";
  return nodes.some(({ before, after }) => before === null && after?.id === gateId)
    ? "node"
    : undefined;
}

function configJson(config: PoolConfig, { secret, poolKey }: GateBatch): object {
  return {
    tenant_id: config.tenantId,
    site_id: config.siteId,
    region: config.region,
    class: config.class,
    gpu_model: config.gpuModel,
    sharing: config.sharing,
    agent: config.agent,
    policy: config.policy,
    // Absent: the stored one stays.
    ...(secret === undefined
      ? {}
      : { kubernetes_token: secret && Buffer.from(secret).toString("base64") }),
    provider_account_id: config.providerAccountId,
    version: config.version,
    archived_at: config.archivedAt,
    created_by: config.createdBy,
    idempotency_key: poolKey ?? null,
    created_at: config.createdAt,
    updated_at: config.updatedAt,
    offers: config.offers.map(({ tenantId, includeDescendants, priority }) => ({
      tenant_id: tenantId,
      include_descendants: includeDescendants,
      priority,
    })),
    quotas: config.quotas.map(({ tenantId, resource, max }) => ({
      tenant_id: tenantId,
      resource,
      max,
    })),
  };
}

function nodeSections(changes: readonly ChangeOf<"node">[]): Record<string, unknown> {
  const written = changes.flatMap(({ after }) => after ?? []);
  const removed = changes.flatMap(({ before, after }) => (after ? [] : (before?.id ?? [])));
  const named = changes.flatMap(({ before, after }) =>
    after && after.name !== before?.name
      ? { id: after.id, site_id: after.siteId, name: after.name, version: after.version }
      : [],
  );
  const gpus = changes.flatMap(freshGpus);
  const givers = [...new Set(changes.flatMap(({ givers = [] }) => givers))];
  if (written.length === 0) return { removed };
  return {
    removed,
    named,
    gpus,
    givers,
    nodes: written.map(nodeJson),
    // Kept when empty: a node may have lost them all.
    units: new Kept(
      written.flatMap((node) => [
        ...node.gpus.map((unit) => unitJson(node, unit, true)),
        ...node.units.map((unit) => unitJson(node, unit, false)),
      ]),
    ),
    maintenance: new Kept(
      written.flatMap((node) => node.maintenance.map((window) => maintenanceJson(node, window))),
    ),
  };
}

/** GPUs that the node did not have: no other node of the site may have them. */
function freshGpus({ before, after }: ChangeOf<"node">): object[] {
  if (!after) return [];
  const uuids = (node: Node): string[] =>
    [...node.gpus, ...node.units].flatMap((unit) =>
      unit.removed || unit.class !== "gpu" ? [] : (unit.gpuUuid ?? []),
    );
  const had = new Set(before ? uuids(before) : []);
  return uuids(after)
    .filter((uuid) => !had.has(uuid))
    .map((uuid) => ({ node_id: after.id, site_id: after.siteId, uuid }));
}

function nodeJson(node: Node): object {
  return {
    id: node.id,
    site_id: node.siteId,
    name: node.name,
    address: node.address,
    state: node.state,
    labels: node.labels,
    vcpu: node.scalars.vcpu,
    memory_gib: node.scalars.memoryGiB,
    hugepages_1gi: node.scalars.hugepages1Gi,
    topology_gen: node.topologyGen,
    version: node.version,
    tenant_owned: node.tenantOwned,
  };
}

function unitJson(node: Node, unit: Unit, carrier: boolean): object {
  return {
    id: unit.id,
    node_id: node.id,
    class: unit.class,
    index: unit.index,
    model: unit.model,
    profile: unit.profile,
    placement: unit.placement,
    gpu_uuid: unit.gpuUuid,
    memory_gib: unit.memoryGiB,
    nvlink_domain: unit.nvlinkDomain,
    vfio_group: unit.vfioGroup,
    pci_address: unit.pciAddress,
    parent_unit_id: unit.parentUnitId,
    healthy: unit.healthy,
    removed: unit.removed,
    carrier,
    mig_profiles: unit.migProfiles,
  };
}

function maintenanceJson(node: Node, { id, start, end, active }: Maintenance): object {
  return { id, node_id: node.id, start, end, state: active ? "active" : "scheduled" };
}

/** A list that is sent even when it is empty. */
class Kept {
  readonly rows: readonly object[];
  constructor(rows: readonly object[]) {
    this.rows = rows;
  }
}

function withoutEmpty(sections: Record<string, unknown>): object {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(sections)) {
    if (value instanceof Kept) kept[name] = value.rows;
    else if (value !== undefined && !(Array.isArray(value) && value.length === 0))
      kept[name] = value;
  }
  return kept;
}
