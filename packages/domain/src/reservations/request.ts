/**
 * What a booking asks for, and the checks that need the pool and its clock. Create, preview and quote all
 * come through here, so they agree about every request.
 */
import { TIME_MAX, formatDuration, horizonMs, maxDurationMs } from "../duration.ts";
import type { TenantId } from "../ids.ts";
import type { DeviceLine, PlaceRequest, PoolConfig, ScalarAmounts, Topology } from "../model.ts";
import { type InputIssue, type Result, invalid, invariant, ok, refuse } from "../refusal.ts";
import { type Charge, resolveCharge } from "../quota.ts";
import type { PoolState } from "../state/pool-state.ts";

/** A start this far in the past is taken for now: clocks differ and requests travel. */
export const START_GRACE_MS = 60_000;
export const UNITS_MAX = 4_096;

export interface BookingShape {
  readonly devices: readonly DeviceLine[];
  readonly topology: Topology;
  /** Per member; scalars not asked for are 0. */
  readonly resources: ScalarAmounts;
  /** Null is now. */
  readonly start: number | null;
  readonly durationMs: number;
}

/** Who asks, with the tenants above it: parent first. */
export interface Booker {
  readonly tenantId: TenantId;
  readonly ancestors: readonly TenantId[];
}

export interface ResolvedBooking {
  readonly config: PoolConfig;
  readonly charge: Charge;
  readonly request: PlaceRequest;
}

/** The checks before quota and capacity, in order: input, the clock's limits, visibility, the pool's state. */
export function resolveBooking(
  state: PoolState,
  now: number,
  ask: Booker & { readonly shape: BookingShape },
): Result<ResolvedBooking> {
  const config = state.config;
  invariant(config !== null, "a booking asks for a pool");
  const charge = resolveCharge(config, ask.tenantId, ask.ancestors);
  if (!charge) return refuse({ code: "NOT_FOUND" });
  const issues = lineIssues(ask.shape.devices, config);
  if (issues.length > 0) return refuse({ code: "INVALID_INPUT", issues });
  const window = resolveWindow(config, now, ask.shape);
  if (!window.ok) return window;
  if (config.archivedAt !== null)
    return refuse({
      code: "INVALID_STATE",
      message: "the pool is archived: it takes no new bookings",
    });
  const { devices, topology, resources } = ask.shape;
  return ok({ config, charge, request: { devices, topology, resources, ...window.value } });
}

/** The window that is booked: an absent start is now, and so is one that has only just passed. */
function resolveWindow(
  config: PoolConfig,
  now: number,
  shape: BookingShape,
): Result<{ start: number; end: number }> {
  const asked = shape.start ?? now;
  if (asked < now - START_GRACE_MS)
    return invalid(["start"], "the start is over a minute in the past; leave it out to start now");
  const start = Math.max(asked, now);
  const horizon = horizonMs(config.policy);
  if (start > now + horizon)
    return invalid(["start"], `the pool takes bookings at most ${formatDuration(horizon)} ahead`);
  const longest = maxDurationMs(config.policy);
  if (shape.durationMs > longest)
    return invalid(["duration"], `a booking of this pool lasts at most ${formatDuration(longest)}`);
  const end = start + shape.durationMs;
  if (end > TIME_MAX) return invalid(["duration"], "the booking would end after 2^47 milliseconds");
  return ok({ start, end });
}

function lineIssues(devices: readonly DeviceLine[], config: PoolConfig): InputIssue[] {
  const issues: InputIssue[] = [];
  const named = new Set<string>();
  devices.forEach((line, at) => {
    const { count, sharing, selector } = line;
    if (sharing !== undefined && sharing !== config.sharing)
      issues.push({
        path: ["devices", at, "sharing"],
        message: `the pool's sharing mode is ${config.sharing}`,
      });
    const unitIds = selector?.unitIds;
    if (!unitIds) return;
    const path = ["devices", at, "selector", "unitIds"];
    if (unitIds.length !== count)
      issues.push({ path, message: `name as many units as the line counts: ${count}` });
    const before = named.size;
    for (const id of unitIds) named.add(id);
    if (named.size !== before + unitIds.length)
      issues.push({ path, message: "a unit can be named only once" });
  });
  const units = devices.reduce((sum, line) => sum + line.count, 0);
  if (units > UNITS_MAX)
    issues.push({ path: ["devices"], message: `a reservation has at most ${UNITS_MAX} units` });
  return issues;
}
