/** The fleet group: a line a method. */
import type { GroupHandlers } from "../../call.ts";
import { assignNode } from "./assign-node.ts";
import { cancelMaintenance } from "./cancel-maintenance.ts";
import { getNode } from "./get-node.ts";
import { listNodes } from "./list-nodes.ts";
import { listSites } from "./list-sites.ts";
import { listTenants } from "./list-tenants.ts";
import { putNodes } from "./put-nodes.ts";
import { putProviderAccount } from "./put-provider-account.ts";
import { putSite } from "./put-site.ts";
import { putTenant } from "./put-tenant.ts";
import { removeNode } from "./remove-node.ts";
import { scheduleMaintenance } from "./schedule-maintenance.ts";
import { setNodeState } from "./set-node-state.ts";
import { setUnitHealth } from "./set-unit-health.ts";

export const fleetHandlers: GroupHandlers<"fleet"> = {
  putTenant,
  putProviderAccount,
  putSite,
  listTenants,
  listSites,
  putNodes,
  listNodes,
  getNode,
  setNodeState,
  setUnitHealth,
  assignNode,
  removeNode,
  scheduleMaintenance,
  cancelMaintenance,
};
