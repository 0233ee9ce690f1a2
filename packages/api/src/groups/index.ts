/** Every method's handler, by group. */
import type { Handlers } from "../call.ts";
import { accessHandlers } from "./access/router.ts";
import { capacityHandlers } from "./capacity/router.ts";
import { eventsHandlers } from "./events/router.ts";
import { fleetHandlers } from "./fleet/router.ts";
import { poolsHandlers } from "./pools/router.ts";
import { reservationsHandlers } from "./reservations/router.ts";
import { unitReservationsHandlers } from "./unit-reservations/router.ts";

export const handlers: Handlers = {
  capacity: capacityHandlers,
  pools: poolsHandlers,
  reservations: reservationsHandlers,
  unitReservations: unitReservationsHandlers,
  fleet: fleetHandlers,
  access: accessHandlers,
  events: eventsHandlers,
};
