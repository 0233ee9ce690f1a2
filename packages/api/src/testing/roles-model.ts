/**
 * The roles as the documentation has them, without Cedar: what the shipped policies are held against. A role that is
 * held on a tenant reaches the tenants below it, each role holds what the weaker ones hold, and the fleet's operator
 * may do everything that there is.
 */
import { ROLES, type Role } from "@berth/contract";
import type { Principal } from "../call.ts";
import type { Resource, ResourceKind } from "../access/policy.ts";

interface Rule {
  /** The weakest role that holds it; to the fleet, whatever it says, the operator's alone. */
  readonly from: Role;
  readonly on: readonly ResourceKind[];
  /** Of pools and nodes: what the tenant that the call is about must be to it. */
  readonly as?: "owner" | "seller";
}

const [tenant, pool, node, fleet] = [
  "compute-tenant",
  "compute-pool",
  "compute-node",
  "compute-fleet",
] as const;
const reads = (...on: ResourceKind[]): Rule => ({ from: "tenant-viewer", on });
const books: Rule = { from: "tenant-operator", on: [pool] };
const owns = (...on: ResourceKind[]): Rule => ({ from: "tenant-admin", on, as: "owner" });

const RULES: Readonly<Record<string, Rule>> = {
  "compute:capacity:read": reads(tenant, pool),
  "compute:pools:read": reads(tenant, pool),
  "compute:reservations:read": reads(tenant, pool),
  "compute:nodes:read": reads(tenant, node),
  "compute:units:read": reads(node),
  "compute:events:read": reads(tenant),
  "compute:reservations:create": books,
  "compute:reservations:manage": books,
  "compute:reservations:terminate": owns(pool, fleet),
  "compute:pools:create": { from: "tenant-admin", on: [tenant, fleet] },
  "compute:pools:share": owns(pool),
  "compute:pools:manage": owns(pool),
  "compute:nodes:manage": owns(tenant, node, fleet),
  "compute:units:manage": { from: "tenant-admin", on: [node], as: "seller" },
  "compute:units:reserve": { from: "fleet-admin", on: [fleet] },
  "compute:access:manage": { from: "tenant-admin", on: [tenant] },
  "compute:fleet:manage": { from: "fleet-admin", on: [fleet] },
};

export function mayDo(who: Principal, action: string, resource: Resource): boolean {
  const rule = Object.hasOwn(RULES, action) ? RULES[action] : undefined;
  if (!rule || !(who.scope?.actions?.includes(action) ?? true)) return false;
  if (!rule.on.includes(resource.kind)) return false;
  if (who.role === "fleet-admin") return true;
  if (resource.kind === fleet || ROLES.indexOf(who.role) < ROLES.indexOf(rule.from)) return false;
  const { tenantId, ancestors } = resource.scope;
  if (![tenantId, ...ancestors].includes(who.tenantId)) return false;
  return rule.as === undefined || stands(rule.as, resource);
}

function stands(as: "owner" | "seller", resource: Resource): boolean {
  if (resource.kind === pool) return resource.pool.owned;
  if (resource.kind !== node) return true;
  const { standing, scope } = resource;
  const owned = standing?.owned ?? resource.node.tenantId === scope.tenantId;
  return owned || (as === "seller" && standing?.managed === true);
}
