/** Catalog rows of the groups that run the fleet: fleet, access, events. */
import type { CatalogEntry } from "./catalog.ts";
import type { Contract } from "./contract.ts";

type Rows<G extends keyof Contract> = Readonly<Record<keyof Contract[G], CatalogEntry>>;

const fleet = { kind: "mutation", items: false, module: "fleet", phase: "v0.2" } as const;
const managesFleet = {
  ...fleet,
  action: "compute:fleet:manage",
  resource: "compute-fleet",
} as const;
const managesNode = { ...fleet, action: "compute:nodes:manage", resource: "compute-node" } as const;
const managesSite = {
  ...fleet,
  action: "compute:nodes:manage",
  resource: "compute-tenant",
} as const;
const readsFleet = { ...fleet, kind: "read", action: "compute:nodes:read" } as const;

export const FLEET_ROWS: Rows<"fleet"> = {
  putTenant: {
    ...managesFleet,
    summary: "Make or change a tenant",
    description:
      "Makes the tenant or changes its name and its place in the tree. A parent that does not exist, and one that would " +
      "close a circle, is INVALID_INPUT. Moving a tenant moves what it sees; its bookings stay charged to whom they were.",
  },
  putProviderAccount: {
    ...managesFleet,
    summary: "Register an account at a provider",
    description:
      "Makes the account or changes its kind: the same tenant and name are the same account.",
  },
  putSite: {
    ...managesSite,
    alternative: { action: "compute:nodes:manage", resource: "compute-fleet" },
    summary: "Make or change a site",
    description:
      "Makes the site or changes it: the same tenant and name are the same site. A `platform` site takes the operator of " +
      "the fleet.",
  },
  listTenants: {
    ...readsFleet,
    action: "none",
    resource: "none",
    summary: "List the tenants that you have a role on",
    description: "Answers your own tenant and those below it; for the operator of the fleet, all.",
  },
  listSites: {
    ...readsFleet,
    resource: "compute-tenant",
    summary: "List a tenant's sites",
    description: "Answers the sites that the tenant owns, by name.",
  },
  putNodes: {
    ...managesSite,
    summary: "Report nodes of a site as they are",
    description:
      "Makes or changes up to 500 nodes at once; decided on the tenant that owns the site. All reports are checked before " +
      "any is written, then the nodes of each pool are written all or none, and each node in no pool by itself: after an " +
      "error send the same reports again. Ids are made from names and device keys, so the same report changes nothing. A " +
      "device that is no longer reported leaves, or stays as removed while it is booked. With `poolId`, nodes that are in " +
      "no pool join it. A report with less of a scalar than live bookings take is INVALID_INPUT. GPUs that come, go, change places, NVLink domain or VFIO group raise their node's `topologyGen`. " +
      "INVALID_STATE for a tenant-owned node in a pool that is offered to others.",
  },
  listNodes: {
    ...readsFleet,
    resource: "compute-tenant",
    items: true,
    summary: "List nodes and when their units are taken",
    description:
      "Answers the nodes of the pools that the tenant sees, and of its own sites, in pages, with the stretches in which " +
      "each unit is taken. Only the tenant's own reservations are named; what others hold is `busy`. Units that a unit " +
      "reservation withholds from the tenant now are not listed, and later ones are `busy`; the node's owner and the " +
      "operator see all, and `withheld`.",
  },
  getNode: {
    ...readsFleet,
    resource: "compute-node",
    summary: "Look at one node",
    description:
      "Answers the node with its units, its address to its owner only. NOT_FOUND unless the tenant owns it or sees its pool.",
  },
  setNodeState: {
    ...managesNode,
    summary: "Say whether a node can take bookings",
    description:
      "Sets the node's state. New bookings go to ready nodes only. On any other, bookings that have not begun go to other " +
      "units of the pool where there is room; the rest are flagged `degraded`, until the node is ready again or there is room.",
  },
  setUnitHealth: {
    ...managesNode,
    summary: "Say whether a unit is sound",
    description:
      "Marks the unit, or a GPU that is shared out with all its parts, and answers the node. A faulty unit takes no new " +
      "booking; one that has not begun goes to other units where there is room, the rest are flagged `degraded`.",
  },
  assignNode: {
    ...managesNode,
    summary: "Move a node to another pool, or to none",
    description:
      "INVALID_STATE while a booking that has begun, or is under notice, holds any of the node's units. Those that have not " +
      "begun go to other units of the pool first; INVALID_STATE, and nothing changed, when one finds no room. A tenant-owned " +
      "node does not go into a pool that is offered to others. Units that are set aside stay so; such a node goes to " +
      "exclusive pools only.",
  },
  removeNode: {
    ...managesNode,
    summary: "Remove a node from the fleet",
    description:
      "INVALID_STATE while a booking that has begun, or is under notice, holds any of the node's units. Those that have not " +
      "begun go to other units of the pool first; INVALID_STATE, and nothing changed, when one finds no room, and while units " +
      "of the node are set aside. Reported again, the node has its id again and counts its version on.",
  },
  scheduleMaintenance: {
    ...managesNode,
    summary: "Take a node out of service for a window",
    description:
      "No new booking overlaps the window. Bookings that do and have not begun go to other nodes (`healed`); those that have, " +
      "and those that find no room, stay where they are, flagged `degraded` (`staying`). With `dryRun` it does nothing and " +
      "answers what it would do; with `expect`, that answer, it is CONFLICT with the new plan when it would do anything else.",
  },
  cancelMaintenance: {
    ...managesNode,
    summary: "Call a maintenance window off, or end it early",
    description:
      "The node is back in service at once, if nothing else keeps it out. `healed` are the bookings that were flagged " +
      "`degraded` and are sound again, `staying` the others that overlap the window.",
  },
};

const access = {
  kind: "mutation",
  action: "compute:access:manage",
  resource: "compute-tenant",
  items: false,
  module: "access",
  phase: "v0.2",
} as const;

export const ACCESS_ROWS: Rows<"access"> = {
  createKey: {
    ...access,
    summary: "Make an API key",
    description:
      "Answers the key and, this once, its secret. Nobody can give away more than they have: not a higher role, not a wider " +
      "scope, not a later end; asking for more is FORBIDDEN.",
  },
  listKeys: {
    ...access,
    kind: "read",
    summary: "List a tenant's API keys",
    description:
      "Answers the tenant's keys without their secrets, newest first, with when each was last used.",
  },
  revokeKey: {
    ...access,
    summary: "Revoke an API key",
    description:
      "From within 5 s on, every server refuses it. Decided on the key's tenant. A revoked key is answered unchanged.",
  },
  whoami: {
    ...access,
    kind: "read",
    action: "none",
    resource: "none",
    summary: "Say who the caller is",
    description: "Answers the tenant, name, role and scope that your token stands for.",
  },
  audit: {
    ...access,
    kind: "read",
    summary: "Read the audit trail",
    description:
      "Answers who called which mutation with what outcome, newest first, in pages. Refusals are summed by minute.",
  },
};

export const EVENTS_ROWS: Rows<"events"> = {
  list: {
    kind: "read",
    action: "compute:events:read",
    resource: "compute-tenant",
    items: false,
    module: "events",
    phase: "v0.2",
    summary: "List what happened, in order",
    description:
      "Answers the events that concern the tenant, oldest first, none lost and none twice when each call goes on after the " +
      "last cursor. CURSOR_EXPIRED when the cursor is from before a restore or older than what is kept.",
  },
};
