/** The domain's public surface: pure rules over plain data. Sorted by file. */
export { formatDuration, horizonMs, maxDurationMs, parseDuration, TIME_MAX } from "./duration.ts";
export type { Duration } from "./duration.ts";
export {
  cancelMaintenance,
  checkMaintenance,
  maintenancePlan,
  scheduleMaintenance,
} from "./fleet/maintenance.ts";
export type { MaintenanceAsk, MaintenancePlan, Scheduled } from "./fleet/maintenance.ts";
export { moveNode, removeNode } from "./fleet/move-node.ts";
export { checkNodes, nodeIdOf, putNodes } from "./fleet/put-nodes.ts";
export type { PutNode, PutNodesAsk } from "./fleet/put-nodes.ts";
export { reportIssues } from "./fleet/report.ts";
export type { DeriveId, NodeReport } from "./fleet/report.ts";
export { setNodeState, setUnitHealth } from "./fleet/set-state.ts";
export { derivedId, encodeBase32, freshId, ID_PREFIXES, idPattern } from "./ids.ts";
export type {
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
} from "./ids.ts";
export { follow, isLive, TRANSITIONS } from "./lifecycle.ts";
export type { Trigger } from "./lifecycle.ts";
export {
  AGENTS,
  BINDINGS,
  DAY_MS,
  DEFAULT_HORIZON_MS,
  DEFAULT_MAX_DURATION_MS,
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
  Agent,
  Binding,
  DeviceClass,
  DeviceLine,
  Gang,
  LiveState,
  Maintenance,
  Member,
  Node,
  NodeState,
  Offer,
  PlaceRequest,
  PoolClass,
  PoolConfig,
  PoolPolicy,
  PoolSnapshot,
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
export { notOfferedInPool, notOfferedInRequest } from "./not-offered.ts";
export type { RequestFeatures } from "./not-offered.ts";
export { earliestStart, earliestStartSteps } from "./placer/earliest-start.ts";
export type { EarliestStart, EarliestStartOptions } from "./placer/earliest-start.ts";
export { extension } from "./placer/extend.ts";
export type { Extension } from "./placer/extend.ts";
export { place } from "./placer/place.ts";
export type { Candidate, Placement } from "./placer/place.ts";
export { archivePool } from "./pools/archive.ts";
export { createPool, createPoolIssues, OWNER_QUOTA_DEFAULT, poolAgent } from "./pools/create.ts";
export type { CreatePoolAsk } from "./pools/create.ts";
export { offerPool } from "./pools/offer.ts";
export { guestPolicy, policyIssues } from "./pools/policy.ts";
export type { PolicyInput } from "./pools/policy.ts";
export { unofferPool } from "./pools/unoffer.ts";
export { updatePool } from "./pools/update.ts";
export { Profile } from "./profile.ts";
export { inUse, quotaLines, requestAmounts, resolveCharge, withinQuota } from "./quota.ts";
export type { Charge, QuotaLine } from "./quota.ts";
export { invalid, invariant, NODE_CAUSES, ok, POOL_CAUSES, refuse } from "./refusal.ts";
export type { Cause, InputIssue, Reason, Refusal, Result } from "./refusal.ts";
export { createReservation } from "./reservations/create.ts";
export type { CreateAsk } from "./reservations/create.ts";
export { applyDue } from "./reservations/due.ts";
export { extendedReservation, extendReservation } from "./reservations/extend.ts";
export { previewBooking } from "./reservations/preview.ts";
export type { BookingPreview } from "./reservations/preview.ts";
export { releaseReservation } from "./reservations/release.ts";
export { renewReservation } from "./reservations/renew.ts";
export { resolveBooking } from "./reservations/request.ts";
export type { Booker, BookingShape, ResolvedBooking } from "./reservations/request.ts";
export { terminateReservation } from "./reservations/terminate.ts";
export { recountRollup } from "./rollup/recount.ts";
export type { Booking } from "./state/calendar.ts";
export type { DueItem } from "./state/due-queue.ts";
export { PoolState } from "./state/pool-state.ts";
export type { StateDelta } from "./state/pool-state.ts";
export { timeline } from "./timeline.ts";
export type { Timeline, TimelineBucket, TimelineWindow } from "./timeline.ts";
export { EVENT_TYPES } from "./turn.ts";
export type { Change, DomainEvent, EventType, Turn } from "./turn.ts";
