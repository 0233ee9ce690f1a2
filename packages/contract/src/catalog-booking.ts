/** Catalog rows of the groups that tenants book with. */
import type { CatalogEntry } from "./catalog.ts";
import type { Contract } from "./contract.ts";

type Rows<G extends keyof Contract> = Readonly<Record<keyof Contract[G], CatalogEntry>>;

const readsCapacity = {
  kind: "read",
  action: "compute:capacity:read",
  resource: "compute-pool",
  items: false,
  module: "capacity",
  phase: "v0.2",
} as const;

export const CAPACITY_ROWS: Rows<"capacity"> = {
  summary: {
    ...readsCapacity,
    resource: "compute-tenant",
    phase: "v0.1",
    summary: "Count what all of a tenant's pools have",
    description:
      "Answers every pool that the tenant owns or is offered with its capacity rows, and sums the whole GPUs by model. " +
      "The sums take each pool's `gpu` row only; MIG instances, slots and scalars are in the pools' own rows. A pool " +
      "that names no model is summed under `other`. Archived pools are there for their owner alone.",
  },
  byPool: {
    ...readsCapacity,
    summary: "Count what one pool has",
    description:
      "Answers the pool's capacity rows, a row a resource, in order of the resource's name. `available` errs on the safe " +
      "side: a unit that is booked now and again later is taken off twice. A unit that a unit reservation withholds from " +
      "the tenant counts once, as reserved. NOT_FOUND when the tenant neither owns nor is " +
      "offered the pool, or it is archived and another's.",
  },
  preview: {
    ...readsCapacity,
    summary: "Ask whether a request fits, where, and if not when",
    description:
      "Takes what reservations.create takes, checks it the same way, and books nothing; the quota is not looked at, and " +
      "nobody waits. Says which nodes could take the request and which units of each, best first; of a gang the members " +
      "of the best one, of `binding: node` the nodes that would be leased. When it does not fit: the reason with a " +
      "count of nodes by cause, the first time at which it would fit, and for a regular request how many spot bookings " +
      "would be given notice and when it would then start. NOT_FOUND for a pool that the tenant does not see; INVALID_STATE for " +
      "the owner of an archived one.",
  },
  timeline: {
    ...readsCapacity,
    summary: "Count the booked GPUs of a pool over time",
    description:
      "Cuts a stretch of time into buckets and counts in each the distinct whole GPUs that are booked at any moment of it. " +
      "`free` is what is allocatable at present less that count, never below 0. MIG instances and slots are not counted. " +
      "The stretch may begin in the past. An empty one, one of over 7 days and one of over 336 buckets are INVALID_INPUT. " +
      "NOT_FOUND for a pool that the tenant does not see.",
  },
};

const pools = { items: false, module: "capacity", phase: "v0.1" } as const;

export const POOLS_ROWS: Rows<"pools"> = {
  list: {
    ...pools,
    kind: "read",
    action: "compute:pools:read",
    resource: "compute-tenant",
    items: true,
    summary: "List the pools that a tenant sees",
    description:
      "Answers the pools that the tenant owns or is offered, each as the tenant sees it. Once the tenant is decided on, " +
      "each pool is decided on its own, and one that is refused is simply absent. Archived pools are there for their " +
      "owner alone.",
  },
  get: {
    ...pools,
    kind: "read",
    action: "compute:pools:read",
    resource: "compute-pool",
    summary: "Look at one pool",
    description:
      "Answers the pool as the tenant sees it, with the tenant's own quota rows. NOT_FOUND when the tenant neither owns " +
      "nor is offered it, or it is archived and another's.",
  },
  create: {
    ...pools,
    kind: "mutation",
    action: "compute:pools:create",
    resource: "compute-fleet",
    alternative: { action: "compute:pools:create", resource: "compute-tenant" },
    summary: "Make a pool on a site of the tenant's",
    description:
      "Makes an empty pool at version 1, with the owner's quota rows. A pool of class `provider` needs a provider account " +
      "and has no agent; the other classes take no provider account: else INVALID_INPUT. Owners of mig, timeslice and mps " +
      "pools name `gpu.mig` or `gpu.slot` in `ownerQuota` themselves, since a missing row grants nothing. The policy is " +
      "checked part by part; on a platform site a Kubernetes join also needs `platformOperated: true`, because whoever " +
      "runs that cluster has root on its machines. A site or account of somebody else is NOT_FOUND. With an idempotency key " +
      "a repeated call answers the pool made before; with another site, class, sharing mode, agent or account it is " +
      "CONFLICT. Tells of it as `pool.created`.",
  },
  capacity: {
    ...readsCapacity,
    phase: "v0.1",
    summary: "Count what one pool has",
    description:
      "Answers what capacity.byPool answers. NOT_FOUND for a pool that the tenant does not see.",
  },
  offer: {
    ...pools,
    kind: "mutation",
    action: "compute:pools:share",
    resource: "compute-pool",
    summary: "Offer a pool to a tenant with a quota",
    description:
      "Makes an offer or changes one, and answers the pool as the offered tenant sees it. Quota rows that are named are " +
      "made or resized, others stay; a maximum below what is in use becomes what is in use. To the owner itself it only " +
      "resizes the owner's rows. INVALID_STATE: the pool is archived; it is a timeslice or mps pool, or holds tenant-owned " +
      "nodes, and the offer is to somebody else; it is single-tenant and the offer includes descendants or another tenant " +
      "has one. A tenant that does not exist is INVALID_INPUT; a pool of somebody else NOT_FOUND. Tells of it as " +
      "`pool.offered`.",
  },
  unoffer: {
    ...pools,
    kind: "mutation",
    action: "compute:pools:share",
    resource: "compute-pool",
    summary: "Withdraw an offer",
    description:
      "Takes the offer back and says whether there was one. The tenant's quota rows shrink to what is in use: live bookings " +
      "stay, nothing new fits. The owner cannot be unoffered (INVALID_INPUT). A second call answers `removed: false` and " +
      "tells of nothing; the first tells of it as `pool.unoffered`.",
  },
  update: {
    ...pools,
    kind: "mutation",
    action: "compute:pools:manage",
    resource: "compute-pool",
    phase: "v0.2",
    summary: "Change a pool's policy or GPU model",
    description:
      "Replaces the policy as a whole, the GPU model, or both (neither is INVALID_INPUT), and answers the pool at its next " +
      "version. Class, site, sharing mode and agent are for good. INVALID_STATE: making a pool " +
      "single-tenant that is offered to several tenants or to any with its descendants; changing an archived pool. A new MIG layout " +
      "never cuts a GPU that is booked; a node takes it once its GPUs are idle. New prewarm images raise the site's " +
      "`desiredGen`. Tells of it as `pool.updated`.",
  },
  archive: {
    ...pools,
    kind: "mutation",
    action: "compute:pools:manage",
    resource: "compute-pool",
    phase: "v0.2",
    summary: "Retire a pool",
    description:
      "Removes every offer and takes no new bookings; live ones run to their end. Offered tenants' quota rows shrink to " +
      "what is in use, and from then on only the owner sees the pool. An archived pool is answered unchanged. Tells of it " +
      "as `pool.archived`, with the tenants that had offers.",
  },
};

const reservations = {
  kind: "mutation",
  action: "compute:reservations:manage",
  resource: "compute-pool",
  items: false,
  module: "reservations",
  phase: "v0.2",
} as const;

export const RESERVATIONS_ROWS: Rows<"reservations"> = {
  create: {
    ...reservations,
    action: "compute:reservations:create",
    summary: "Book units or whole nodes of a pool for a window",
    description:
      "Books exactly what was asked for or nothing: a gang has all of its members, a lease of nodes all of its nodes. Without " +
      "`start` it begins now. Over quota is QUOTA_EXCEEDED whether or not there is room. When a regular request does not fit " +
      "but would if spot bookings ended, the fewest of them are given the pool's notice, and it is booked from the notice's " +
      "end on. Else, with `wait`, the call waits: whoever waits comes before newcomers, by the offer's priority and then in " +
      "order of arrival, and what does not fit is passed over, not queued behind. Hanging up ends the wait. No room, or none " +
      "in time, is NO_CAPACITY with the reason and the earliest start; over 100 waiting calls of a tenant in a pool are " +
      "RATE_LIMITED. Repeating a request with its " +
      "key answers the reservation that it made, as it is by then; using the key for another request is CONFLICT. A call " +
      "that failed does not use up its key. A pool that the tenant does not see is NOT_FOUND, an archived one INVALID_STATE for its owner.",
  },
  quote: {
    ...readsCapacity,
    module: "reservations",
    summary: "Ask for fit and quota of a request and of alternatives",
    description:
      "Answers in one call what preview answers, whether the quota allows it, and both for up to 16 alternatives laid " +
      "over the request. Nothing is written and no key is used up.",
  },
  get: {
    ...reservations,
    kind: "read",
    action: "compute:reservations:read",
    summary: "Look at one reservation",
    description:
      "Answers the reservation as it is at this moment: one that is over is shown ended. NOT_FOUND unless it is the tenant's.",
  },
  list: {
    ...reservations,
    kind: "read",
    action: "compute:reservations:read",
    resource: "compute-tenant",
    items: true,
    summary: "List a tenant's reservations",
    description:
      "Answers the tenant's reservations, newest first, in pages. `from` and `to` keep those that overlap the window; " +
      "`state` is the state at this moment. Units are answered only when `include` names `members`. Reservations in pools " +
      "that you may not read are absent.",
  },
  renew: {
    ...reservations,
    summary: "Keep a leased reservation alive",
    description:
      "Moves the lease to now plus `leaseSeconds`, never past the end and never back. Before the start it changes nothing. " +
      "INVALID_STATE when there is no lease or the reservation is over.",
  },
  extend: {
    ...reservations,
    summary: "Move a reservation's end later",
    description:
      "Keeps the same units for longer, all members of a gang alike. The present end answers the reservation unchanged, an " +
      "earlier one is INVALID_INPUT. When any unit is taken it is NO_CAPACITY with the latest end that would fit: nobody is " +
      "given notice for it. `dryRun` answers what would come of it and writes nothing. Quota and the pool's longest booking " +
      "count the whole window. INVALID_STATE for a reservation that is over or under notice, and when the pool is archived " +
      "or no longer offered.",
  },
  release: {
    ...reservations,
    summary: "End a reservation now",
    description:
      "Frees its units at once, all members of a gang alike; one that has not begun is gone. Whoever was given notice for it " +
      "may stay. A reservation that is over is answered unchanged.",
  },
  terminate: {
    ...reservations,
    action: "compute:reservations:terminate",
    resource: "compute-fleet",
    alternative: { action: "compute:reservations:terminate", resource: "compute-pool" },
    summary: "End another tenant's reservation, with a reason",
    description:
      "For the operator of the fleet and the owner of the pool. `tenantId` is the caller's own. The reservation ends at " +
      "once, and its tenant reads the reason.",
  },
  watch: {
    ...reservations,
    kind: "subscription",
    action: "compute:reservations:read",
    resource: "compute-tenant",
    summary: "Be told of a tenant's events as they happen",
    description:
      "A stream of server-sent events: what events.list answers, in the same order, each event once, as soon as it is " +
      "committed. With the `cursor` of the last event that you have it goes on after that one; without, it begins at now. A " +
      "stream that breaks is opened again with the last id, and nothing is lost or repeated. A cursor from before a " +
      "restore or older than what is kept is CURSOR_EXPIRED: list again. It ends within 5 s of the key's end, when the " +
      "server stops, and when its reader falls too far behind. Too many streams of one caller are RATE_LIMITED.",
  },
};
