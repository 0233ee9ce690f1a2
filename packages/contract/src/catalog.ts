/**
 * A row a method: what kind of call it is, what it is decided as, and what it does, in words. Authorization,
 * the reference, the OpenAPI document and the client's documentation all read it.
 */
import type { Action } from "./access.ts";
import type { GroupName, MethodName } from "./contract.ts";
import { ACCESS_ROWS, EVENTS_ROWS, FLEET_ROWS } from "./catalog-fleet.ts";
import { CAPACITY_ROWS, POOLS_ROWS, RESERVATIONS_ROWS } from "./catalog-booking.ts";
import { UNIT_RESERVATIONS_ROWS } from "./catalog-units.ts";

/** What a decision is made on: `none` needs nothing but a valid token. */
export type ResourceKind =
  | "compute-tenant"
  | "compute-pool"
  | "compute-node"
  | "compute-fleet"
  | "none";

export interface CatalogEntry {
  /** A subscription is a stream of its output. */
  readonly kind: "read" | "mutation" | "subscription";
  /** What it is decided as; `none` goes with the resource `none`. */
  readonly action: Action | "none";
  readonly resource: ResourceKind;
  /** Allowed as well when this is: another resource, or under a condition that the description states. */
  readonly alternative?: { readonly action: Action; readonly resource: ResourceKind };
  /** Entries of the answer are decided one by one as well; those refused are absent. */
  readonly items: boolean;
  readonly module: string;
  readonly phase: "v0.1" | "v0.2";
  /** One line, without a full stop. */
  readonly summary: string;
  readonly description: string;
}

export interface CatalogRow extends CatalogEntry {
  readonly group: GroupName;
  readonly method: string;
}

/** What each group is for, in a paragraph. */
export const groups: Record<GroupName, string> = {
  capacity:
    "What the pools that a tenant sees hold, have booked and have free. Nothing here books anything: two methods " +
    "read the counted rows, one asks the placer, one counts over time.",
  pools:
    "A pool is a part of a site's nodes, run alike: the same GPU model, cut the same way, by the same policy. Its maker owns it; others see it " +
    "once it is offered to them with a quota, and to everyone else it does not exist.",
  reservations:
    "A tenant's own bookings: units of one pool for a window of time, kept alive by renewing, ended by releasing.",
  unitReservations:
    "Units of one node that the operator of the fleet sets aside for some orgs, for a term: sold to them, lent to the spot market " +
    "meanwhile, and taken back. Times are texts here, and a field that has nothing to say is left out.",
  fleet: "Tenants, sites and machines: what exists, in which state, and when it is out of service.",
  access: "API keys, who the caller is, and who did what.",
  events: "What happened, in an order that can be resumed.",
};

const rows = {
  capacity: CAPACITY_ROWS,
  pools: POOLS_ROWS,
  reservations: RESERVATIONS_ROWS,
  unitReservations: UNIT_RESERVATIONS_ROWS,
  fleet: FLEET_ROWS,
  access: ACCESS_ROWS,
  events: EVENTS_ROWS,
} satisfies Record<GroupName, Record<string, CatalogEntry>>;

/** Every method's row, by `group.method`. */
export const catalog: Readonly<Record<MethodName, CatalogRow>> = Object.fromEntries(
  Object.entries(rows).flatMap(([group, methods]) =>
    Object.entries<CatalogEntry>(methods).map(([method, entry]) => [
      `${group}.${method}`,
      { group, method, ...entry },
    ]),
  ),
  // A test holds the names of the rows and of the schemas equal.
) as Record<MethodName, CatalogRow>;

/** Methods that compare a version which their input has no field for: over HTTP `If-Match` names it. */
export const VERSION_BESIDE: ReadonlySet<MethodName> = new Set(["pools.update", "pools.archive"]);
