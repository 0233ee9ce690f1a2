/**
 * What each method's handler is handed: the thing that its catalog row names. Written out because types
 * cannot read the catalog's values; `createApi` refuses to start when the two do not agree.
 */
import type { MethodName } from "@berth/contract";

export type HandedKind = "compute-tenant" | "compute-pool" | "compute-node" | "none";

export const HANDED = {
  "capacity.summary": "compute-tenant",
  "capacity.byPool": "compute-pool",
  "capacity.preview": "compute-pool",
  "capacity.timeline": "compute-pool",
  "pools.list": "compute-tenant",
  "pools.get": "compute-pool",
  "pools.create": "compute-tenant",
  "pools.capacity": "compute-pool",
  "pools.offer": "compute-pool",
  "pools.unoffer": "compute-pool",
  "pools.update": "compute-pool",
  "pools.archive": "compute-pool",
  "reservations.create": "compute-pool",
  "reservations.quote": "compute-pool",
  "reservations.get": "compute-pool",
  "reservations.list": "compute-tenant",
  "reservations.renew": "compute-pool",
  "reservations.extend": "compute-pool",
  "reservations.release": "compute-pool",
  "reservations.terminate": "compute-pool",
  "fleet.putTenant": "none",
  "fleet.putProviderAccount": "none",
  "fleet.putSite": "compute-tenant",
  "fleet.listTenants": "none",
  "fleet.listSites": "compute-tenant",
  "fleet.putNodes": "compute-tenant",
  "fleet.listNodes": "compute-tenant",
  "fleet.getNode": "compute-node",
  "fleet.setNodeState": "compute-node",
  "fleet.setUnitHealth": "compute-node",
  "fleet.assignNode": "compute-node",
  "fleet.removeNode": "compute-node",
  "fleet.scheduleMaintenance": "compute-node",
  "fleet.cancelMaintenance": "compute-node",
  "access.createKey": "compute-tenant",
  "access.listKeys": "compute-tenant",
  "access.revokeKey": "compute-tenant",
  "access.whoami": "none",
  "access.audit": "compute-tenant",
  "events.list": "compute-tenant",
} as const satisfies Record<MethodName, HandedKind>;
