/** Builders, arbitraries and the brute-force model, for the tests of this and other rooms. */
export {
  bookingDrawArb,
  bookingOf,
  LAST_INSTANT,
  nodeArb,
  poolArb,
  requestArb,
  windowArb,
} from "./arbitraries.ts";
export type { BookingDraw } from "./arbitraries.ts";
export {
  bruteCanTake,
  bruteCause,
  bruteEarliestStart,
  bruteIsFree,
  bruteRollup,
  bruteScalarPeak,
  bruteTimeline,
  bruteUsage,
} from "./brute-force.ts";
export {
  buildConfig,
  buildMaintenance,
  buildNode,
  buildRequest,
  buildReservation,
  buildSnapshot,
  buildUnit,
  inUnitOrder,
  maintenanceIdOf,
  nodeIdOf,
  reservationIdOf,
  unitIdOf,
} from "./builders.ts";
export type { NodeShape } from "./builders.ts";
export { changed, historyArb, unfold } from "./history.ts";
export type { History, Moment } from "./history.ts";
