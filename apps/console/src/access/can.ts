/**
 * The one place that says whether a button is live: `can(action, who, row)`. It knows what the server decides (roles,
 * the pool's and the node's owner, a narrowed key) and what a row's state allows, and answers with the reason, because
 * what may not be done is shown dead and explained, never hidden. The server decides by itself: this only spares the
 * person a refusal. A test holds it against a real server.
 */
import type { Action, Pool, Reservation, Role, UnitReservation, Whoami } from "@berth/client";
import { stateRefusal } from "./state.ts";

/** The methods that change something, as the API names them. */
export type Method =
  | "pools.create"
  | "pools.offer"
  | "pools.unoffer"
  | "pools.update"
  | "pools.archive"
  | "reservations.create"
  | "reservations.renew"
  | "reservations.extend"
  | "reservations.release"
  | "reservations.terminate"
  | "unitReservations.create"
  | "unitReservations.cancel"
  | "unitReservations.release"
  | "unitReservations.reclaim"
  | "unitReservations.reaffirm"
  | "fleet.putTenant"
  | "fleet.putSite"
  | "fleet.putNodes"
  | "fleet.assignNode"
  | "fleet.removeNode"
  | "fleet.setNodeState"
  | "fleet.setUnitHealth"
  | "fleet.scheduleMaintenance"
  | "fleet.cancelMaintenance"
  | "access.audit"
  | "access.createKey"
  | "access.revokeKey";

/** Who asks, and for which tenant: the caller's own, or one below it. */
export type Who = Pick<Whoami, "role" | "scope"> & {
  /** The tenant that the page acts for. */
  readonly tenantId: string;
};

/** What it is done to: as much of it as the page has. What is absent forbids nothing. */
export interface Row {
  readonly pool?: Pick<Pool, "id" | "owned" | "archived"> | undefined;
  readonly reservation?: Reservation | undefined;
  /** A node: whose it is, and whether the tenant manages a unit reservation on it. */
  readonly node?: NodeStanding | undefined;
  readonly unitReservation?: UnitReservation | undefined;
  /** Instant at which lapsed things are lapsed; absent: states are taken as they are. */
  readonly now?: number | undefined;
}

/** What the tenant is to a node. */
export interface NodeStanding {
  readonly poolId: string | null;
  readonly owned: boolean;
  readonly managed?: boolean | undefined;
}

/** Whether it may be done, and if not, the sentence that says why. */
export type May = { readonly may: true } | { readonly may: false; readonly why: string };

interface Rule {
  readonly action: Action;
  /** The weakest role that holds it. */
  readonly from: Role;
  /** What the tenant must be to the pool or node. */
  readonly as?: "pool owner" | "node owner" | "seller";
  /** Done only from the owner's own view of the pool. */
  readonly asOwner?: true;
  /** Decided on the whole tenant, so a key that is narrowed to pools may not. */
  readonly whole?: true;
}

const ROLES: readonly string[] = [
  "tenant-viewer",
  "tenant-operator",
  "tenant-admin",
  "fleet-admin",
] satisfies Role[];

const SAY: Readonly<Record<Role, string>> = {
  "tenant-viewer": "a viewer",
  "tenant-operator": "an operator of the tenant",
  "tenant-admin": "an admin of the tenant",
  "fleet-admin": "the operator of the fleet",
};

const books = (action: Action): Rule => ({ action, from: "tenant-operator" });
const ends: Rule = {
  action: "compute:reservations:terminate",
  from: "tenant-admin",
  as: "pool owner",
};
const owns = (action: Action): Rule => ({ ...ends, action, asOwner: true });
const ownsNode: Rule = { action: "compute:nodes:manage", from: "tenant-admin", as: "node owner" };
const sells: Rule = { action: "compute:units:manage", from: "tenant-admin", as: "seller" };
const operates = (action: Action): Rule => ({ action, from: "fleet-admin", whole: true });
const administers = (action: Action): Rule => ({ action, from: "tenant-admin", whole: true });

const RULES: Readonly<Record<Method, Rule>> = {
  "pools.create": administers("compute:pools:create"),
  "pools.offer": owns("compute:pools:share"),
  "pools.unoffer": owns("compute:pools:share"),
  "pools.update": owns("compute:pools:manage"),
  "pools.archive": owns("compute:pools:manage"),
  "reservations.create": books("compute:reservations:create"),
  "reservations.renew": books("compute:reservations:manage"),
  "reservations.extend": books("compute:reservations:manage"),
  "reservations.release": books("compute:reservations:manage"),
  "reservations.terminate": ends,
  "unitReservations.create": operates("compute:units:reserve"),
  "unitReservations.cancel": operates("compute:units:reserve"),
  "unitReservations.reaffirm": operates("compute:units:reserve"),
  "unitReservations.release": sells,
  "unitReservations.reclaim": sells,
  "fleet.putTenant": operates("compute:fleet:manage"),
  "fleet.putSite": administers("compute:nodes:manage"),
  "fleet.putNodes": { ...ownsNode, whole: true },
  "fleet.assignNode": ownsNode,
  "fleet.removeNode": ownsNode,
  "fleet.setNodeState": ownsNode,
  "fleet.setUnitHealth": ownsNode,
  "fleet.scheduleMaintenance": ownsNode,
  "fleet.cancelMaintenance": ownsNode,
  "access.audit": administers("compute:access:manage"),
  "access.createKey": { action: "compute:access:manage", from: "tenant-admin" },
  "access.revokeKey": administers("compute:access:manage"),
};

/** Whether `who` may do `method` to `row`; if not, why: their role, their key, whose it is, or its state. */
export function can(method: Method, who: Who, row: Row = {}): May {
  const why = roleRefusal(method, who, row) ?? stateRefusal(method, row);
  return why === null ? { may: true } : { may: false, why };
}

function roleRefusal(method: Method, who: Who, row: Row): string | null {
  const rule = RULES[method];
  // Whoever is no owner would not be helped by a stronger role either.
  const others = who.role === "fleet-admin" ? null : standing(rule, row);
  if (others !== null) return others;
  if (ROLES.indexOf(who.role) < ROLES.indexOf(rule.from))
    return `Only ${SAY[rule.from]} may do this; you are ${sayRole(who.role)}.`;
  const narrowed = scopeRefusal(rule, who, row);
  if (narrowed !== null) return narrowed;
  // An operator may do it, but as the owner: of another tenant's view the server hides it.
  return who.role === "fleet-admin" && rule.asOwner ? asOwner(row) : null;
}

function asOwner({ pool }: Row): string | null {
  return pool && !pool.owned ? "Choose the owner of the pool in the tenant menu to do this." : null;
}

function sayRole(role: string): string {
  return Object.hasOwn(SAY, role) ? SAY[role as Role] : role;
}

function scopeRefusal(rule: Rule, { scope }: Who, row: Row): string | null {
  if (scope?.actions && !scope.actions.includes(rule.action))
    return `Your key does not hold ${rule.action}.`;
  if (!scope?.poolIds) return null;
  if (rule.whole) return "Your key is limited to some pools.";
  const poolId = row.pool?.id ?? row.reservation?.poolId ?? row.node?.poolId;
  const outside = poolId != null && !scope.poolIds.includes(poolId);
  return outside ? "Your key is limited to other pools." : null;
}

/** Ownership is the tenant's, whatever the role: an admin owns no pool that another tenant offers. */
function standing({ as }: Rule, { node, pool }: Row): string | null {
  if (as === "pool owner" && pool && !pool.owned)
    return "Only the owner of the pool may do this; the pool is offered to you.";
  if (as === "node owner" && node && !node.owned) return "Only the owner of the node may do this.";
  if (as === "seller" && node && !node.owned && !node.managed)
    return "Only the owner of the node and those who manage what is set aside on it may do this.";
  return null;
}
