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
  bruteIsFree,
  bruteIsWithheld,
  bruteIsSound,
  bruteRollup,
  bruteScalarPeak,
  bruteTimeline,
  bruteUsage,
} from "./brute-force.ts";
export {
  bruteBlocked,
  bruteDomains,
  bruteEarliestStart,
  bruteFits,
  bruteMembers,
  bruteSize,
} from "./brute-members.ts";
export {
  buildConfig,
  buildMaintenance,
  buildNode,
  buildRequest,
  buildReservation,
  buildSharedNode,
  buildSnapshot,
  buildUnit,
  buildUnitReservation,
  inUnitOrder,
  maintenanceIdOf,
  nodeIdOf,
  reservationIdOf,
  unitIdOf,
} from "./builders.ts";
export type { NodeShape } from "./builders.ts";
export { changed, historyArb, unfold } from "./history.ts";
export { sharedPoolArb, sharedRequestArb } from "./shared-pools.ts";
export type { History, Moment } from "./history.ts";
export { wideArb, wideHorizonArb } from "./wide.ts";
export { type Written, faultsOfWrite } from "./whole-domain/check-changes.ts";
export { faultsOfRows } from "./whole-domain/check-state.ts";
export { dump } from "./whole-domain/plain.ts";
export { type Start, nodeIdAt, reportOf, SITE } from "./whole-domain/start.ts";
export { historyOf, type CreateStep, type Step } from "./whole-domain/steps.ts";
export {
  type Host,
  type HostCommand,
  type HostGate,
  ancestorsOf,
  askOf,
  minutes,
  take,
} from "./whole-domain/take.ts";
export { configAt } from "./whole-domain/world.ts";
