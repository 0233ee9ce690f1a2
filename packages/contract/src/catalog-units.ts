/** Catalog rows of the group unitReservations. */
import type { CatalogEntry } from "./catalog.ts";
import type { Contract } from "./contract.ts";

type Rows<G extends keyof Contract> = Readonly<Record<keyof Contract[G], CatalogEntry>>;

const operators = {
  kind: "mutation",
  action: "compute:units:reserve",
  resource: "compute-fleet",
  items: false,
  module: "unitReservations",
  phase: "v0.2",
} as const;
/** The node's owner and the orgs that manage the reservation have a way of their own. */
const sellers = {
  ...operators,
  alternative: { action: "compute:units:manage", resource: "compute-node" },
} as const;
const readers = {
  ...operators,
  kind: "read",
  alternative: { action: "compute:units:read", resource: "compute-node" },
} as const;

export const UNIT_RESERVATIONS_ROWS: Rows<"unitReservations"> = {
  create: {
    ...operators,
    summary: "Set units of a node aside for some orgs",
    description:
      "For a term, the units are withheld from every org outside the audience. The audience gets no other right: it books them " +
      "with an offer and a quota, as ever. INVALID_INPUT names the first unit that is not a whole GPU of the node with a VFIO " +
      "group, and an org that does not exist. CONFLICT names units that another unit reservation has at some time of the " +
      "term, or live reservations of orgs outside the audience.",
  },
  list: {
    ...readers,
    items: true,
    summary: "List unit reservations",
    description:
      "For the operator of the fleet, all; for others, those on their own nodes and those that they manage. NOT_FOUND for a " +
      "node with which the caller has nothing to do.",
  },
  get: {
    ...readers,
    summary: "Look at one unit reservation",
    description:
      "For the operator of the fleet, the node's owner and the managing orgs. To everyone else, the audience included, it does " +
      "not exist.",
  },
  cancel: {
    ...operators,
    summary: "End a unit reservation now",
    description:
      "Gives the units back to everyone. Reservations on them live on as they are. One that is over is answered unchanged.",
  },
  release: {
    ...sellers,
    summary: "Put set-aside units on the spot market",
    description:
      "The units stay set aside; from now on anybody with an offer may book them, as spot and not otherwise, the audience " +
      "included. INVALID_STATE when it is over or needs a review.",
  },
  reclaim: {
    ...sellers,
    summary: "Take units back from the spot market",
    description:
      "In one step the units leave the market and every spot reservation on them ends, begun or not, whoever's, without notice and " +
      "as a whole: what else it held ends with it. Reservations that are not spot run on and are listed. `dryRun` answers the " +
      "same ids and writes nothing; `expect` holds the call to them. Units that are not on the market stay as they are.",
  },
  reaffirm: {
    ...operators,
    summary: "Let a unit reservation hold for the node as it is now",
    description:
      "After a change of the node's GPUs, once somebody has looked: INVALID_STATE names a unit that is gone or no longer " +
      "qualifies. One that needs no review is answered unchanged.",
  },
};
