/** The domain's public surface: pure rules over plain data. Sorted by file. */
export { formatDuration, horizonMs, maxDurationMs, parseDuration, TIME_MAX } from "./duration.ts";
export type { Duration } from "./duration.ts";
export { cancelMaintenance, scheduleMaintenance } from "./fleet/maintenance.ts";
export type { MaintenanceAsk, MaintenancePlan, Scheduled } from "./fleet/maintenance.ts";
export { moveNode, removeNode } from "./fleet/move-node.ts";
export { checkNodes, nodeIdOf, putNodes } from "./fleet/put-nodes.ts";
export type { PutNode, PutNodesAsk } from "./fleet/put-nodes.ts";
export { reportIssues } from "./fleet/report.ts";
export type { NodeReport } from "./fleet/report.ts";
export { setNodeState, setUnitHealth } from "./fleet/set-state.ts";
export { derivedId, encodeBase32, freshId, ID_PREFIXES, idPattern } from "./ids.ts";
export type {
  DeriveId,
  EventId,
  GateId,
  Id,
  IdPrefix,
  KeyId,
  MaintenanceId,
  NodeId,
  PoolId,
  ProjectId,
  ProviderAccountId,
  ReservationId,
  SiteId,
  TenantId,
  UnitId,
  UnitReservationId,
} from "./ids.ts";
export { follow, isLive, TRANSITIONS } from "./lifecycle.ts";
export type { Trigger } from "./lifecycle.ts";
export { SLICES_MAX } from "./mig/table.ts";
export { UNIT_RESERVATION_STATUSES } from "./claims.ts";
export {
  AGENTS,
  BINDINGS,
  DAY_MS,
  DEFAULT_HORIZON_MS,
  DEFAULT_MAX_DURATION_MS,
  DEGRADED_CAUSES,
  DEVICE_CLASSES,
  LIVE_STATES,
  NO_SCALARS,
  NODE_STATES,
  POOL_CLASSES,
  RESERVATION_STATES,
  RESOURCES,
  SCALARS,
  SHARING_MODES,
  TOPOLOGIES,
  UNIT_CLASSES,
} from "./model.ts";
export type {
  UnitReservation,
  UnitReservationStatus,
  Waiter,
  WaiterAsk,
  WaiterKey,
} from "./claims.ts";
export type {
  Agent,
  Binding,
  Degraded,
  DegradedCause,
  DeviceClass,
  DeviceLine,
  Gang,
  LiveState,
  Maintenance,
  Member,
  MigPlacements,
  Node,
  NodeSetup,
  NodeState,
  Offer,
  Pin,
  PlaceRequest,
  PoolClass,
  PoolConfig,
  PoolPolicy,
  PoolSnapshot,
  Preemption,
  QuotaRow,
  Reservation,
  ReservationState,
  Resource,
  RollupRow,
  Scalar,
  ScalarAmounts,
  Selector,
  SharingMode,
  Topology,
  Unit,
  UnitClass,
} from "./model.ts";
export { earliestStart, earliestStartSteps } from "./placer/earliest-start.ts";
export type { EarliestStart, EarliestStartOptions } from "./placer/earliest-start.ts";
export { extension } from "./placer/extend.ts";
export type { Extension } from "./placer/extend.ts";
export { place } from "./placer/place.ts";
export type { Candidate, Placement } from "./placer/place.ts";
export { lostParts, packScore } from "./placer/score.ts";
export type { Room, Wish } from "./placer/score.ts";
export { CHOICE_ENOUGH, Shortlist } from "./placer/shortlist.ts";
export type { Tie } from "./placer/shortlist.ts";
export { findVictims } from "./placer/victims.ts";
export type { Victims } from "./placer/victims.ts";
export { archivePool } from "./pools/archive.ts";
export { createPool, createPoolIssues, OWNER_QUOTA_DEFAULT, poolAgent } from "./pools/create.ts";
export type { CreatePoolAsk } from "./pools/create.ts";
export { offerPool } from "./pools/offer.ts";
export { guestPolicy, policyIssues } from "./pools/policy.ts";
export type { PolicyInput, PolicyPlace } from "./pools/policy.ts";
export { unofferPool } from "./pools/unoffer.ts";
export { updatePool } from "./pools/update.ts";
export { Profile } from "./profile.ts";
export { inUse, resolveCharge, withinQuota } from "./quota.ts";
export type { Charge, QuotaLine } from "./quota.ts";
export { invalid, invariant, NODE_CAUSES, ok, POOL_CAUSES, refuse } from "./refusal.ts";
export type { Cause, InputIssue, Reason, Refusal, Result } from "./refusal.ts";
export { createReservation } from "./reservations/create.ts";
export type { CreateAsk } from "./reservations/create.ts";
export { applyDue } from "./reservations/due.ts";
export { extendedReservation, extendReservation } from "./reservations/extend.ts";
export { useFreed } from "./reservations/freed.ts";
export { applyGrace } from "./reservations/grace.ts";
export type { LeaseClock, Outage } from "./reservations/grace.ts";
export { bookingRefusal, previewBooking } from "./reservations/preview.ts";
export type { BookingPreview } from "./reservations/preview.ts";
export { releaseReservation } from "./reservations/release.ts";
export { renewReservation } from "./reservations/renew.ts";
export { resolveBooking, shapeIssues } from "./reservations/request.ts";
export type { Booker, BookingShape, Combination, ResolvedBooking } from "./reservations/request.ts";
export { bookingQuota } from "./reservations/room.ts";
export { terminateReservation } from "./reservations/terminate.ts";
export {
  createOrWait,
  serveWaiters,
  stopWaiting,
  stopWaitingWith,
  WAITERS_MAX,
} from "./reservations/waiters.ts";
export type { Asked, WaitAsk } from "./reservations/waiters.ts";
export { isFaulty } from "./rollup/buckets.ts";
export { healingOf } from "./reservations/tries.ts";
export { recountRollup } from "./rollup/recount.ts";
export type { Booking } from "./state/calendar.ts";
export { DemandMix } from "./state/demand-mix.ts";
export type { Ask, Weighed } from "./state/demand-mix.ts";
export type { DueItem } from "./state/due-queue.ts";
export { PoolState } from "./state/pool-state.ts";
export type { StateDelta } from "./state/pool-state.ts";
export { timeline, timelineSteps } from "./timeline.ts";
export type { Timeline, TimelineBucket, TimelineWindow } from "./timeline.ts";
export { EVENT_TYPES, frees } from "./turn.ts";
export type { Change, DomainEvent, EventType, Turn } from "./turn.ts";
export { createUnitReservation } from "./unit-reservations/create.ts";
export type { CreateTermAsk } from "./unit-reservations/create.ts";
export { cancelUnitReservation } from "./unit-reservations/end.ts";
export type { TermAsk } from "./unit-reservations/find.ts";
export { isWithheldAt, termsOf, withheldTerms } from "./unit-reservations/hidden.ts";
export { planReclaim, reclaimUnits } from "./unit-reservations/reclaim.ts";
export type { Reclaim, ReclaimAsk, ReclaimPlan } from "./unit-reservations/reclaim.ts";
export { releaseUnits } from "./unit-reservations/release.ts";
export type { ReleaseUnitsAsk } from "./unit-reservations/release.ts";
export { reaffirmUnitReservation } from "./unit-reservations/review.ts";
export { rollupFor } from "./unit-reservations/rollup-for.ts";
