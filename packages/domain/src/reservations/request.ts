/**
 * What a booking asks for, the checks that need nothing else, and those that need the pool and its clock.
 * Create, preview and quote all come through here, so they agree about every request.
 */
import { TIME_MAX, formatDuration, horizonMs, maxDurationMs } from "../duration.ts";
import type { TenantId } from "../ids.ts";
import type {
  Binding,
  DeviceLine,
  Gang,
  NodeSetup,
  PlaceRequest,
  PoolConfig,
  ScalarAmounts,
  Topology,
} from "../model.ts";
import { type InputIssue, type Result, invalid, invariant, ok, refuse } from "../refusal.ts";
import { type Charge, resolveCharge } from "../quota.ts";
import type { PoolState } from "../state/pool-state.ts";

/** A start this far in the past is taken for now: clocks differ and requests travel. */
export const START_GRACE_MS = 60_000;
export const UNITS_MAX = 4_096;

export interface BookingShape {
  readonly binding: Binding;
  readonly gang: Gang | null;
  /** Exactly with binding `node`. */
  readonly node: NodeSetup | null;
  readonly spot: boolean;
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
  /** A platform operator is told that units are withheld from it; to others they are booked. */
  readonly showWithheld?: boolean;
}

export interface ResolvedBooking {
  readonly config: PoolConfig;
  readonly charge: Charge;
  readonly request: PlaceRequest;
  readonly showWithheld?: boolean | undefined;
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
  const issues = [...shapeIssues(ask.shape), ...sharingIssues(ask.shape.devices, config)];
  if (issues.length > 0) return refuse({ code: "INVALID_INPUT", issues });
  const window = resolveWindow(config, now, ask.shape);
  if (!window.ok) return window;
  if (config.archivedAt !== null)
    return refuse({
      code: "INVALID_STATE",
      message: "the pool is archived: it takes no new bookings",
    });
  const { binding, gang, spot, devices, topology, resources } = ask.shape;
  const { tenantId, showWithheld = false } = ask;
  const request = { binding, gang, spot, tenantId, devices, topology, resources, ...window.value };
  return ok({ config, charge, request, showWithheld });
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

/** The parts of a request that have to go together. */
export type Combination = Pick<BookingShape, "binding" | "gang" | "node" | "devices">;

/** What no pool can take at any time, by the request alone: an issue a field. */
export function shapeIssues(shape: Combination): InputIssue[] {
  return [...leaseIssues(shape), ...unitIssues(shape)];
}

/** A lease of whole nodes: the binding, its set-up and its one line come together or not at all. */
function leaseIssues({ binding, gang, node, devices }: Combination): InputIssue[] {
  const issues: InputIssue[] = [];
  const say = (path: InputIssue["path"], message: string): void => {
    issues.push({ path, message });
  };
  const ofNodes = binding === "node";
  if (!ofNodes && node) say(["node"], 'goes with binding "node" only');
  if (ofNodes && !node) say(["node", "profileId"], 'is needed with binding "node"');
  devices.forEach((line, at) => {
    const isNode = line.class === "node";
    const path = ["devices", at, "class"];
    if (isNode && !ofNodes) say(path, '"node" goes with binding "node" only');
    else if (isNode && devices.length > 1) say(path, '"node" stands alone: a node comes whole');
    else if (!isNode && ofNodes && !devices.some((other) => other.class === "node"))
      say(path, 'binding "node" leases whole nodes: ask for class "node"');
    if (isNode && gang && line.count !== 1)
      say(["devices", at, "count"], "is 1 with a gang: every member is a node");
  });
  return issues;
}

function unitIssues({ gang, devices }: Combination): InputIssue[] {
  const issues: InputIssue[] = [];
  const named = new Set<string>();
  devices.forEach((line, at) => {
    const unitIds = line.selector?.unitIds;
    if (!unitIds) return;
    const path = ["devices", at, "selector", "unitIds"];
    if (gang) issues.push({ path, message: "cannot be named for a gang" });
    if (line.class === "node")
      issues.push({ path, message: "cannot be named with class node: a node comes whole" });
    else if (unitIds.length !== line.count)
      issues.push({ path, message: `name as many units as the line counts: ${line.count}` });
    const before = named.size;
    for (const id of unitIds) named.add(id);
    if (named.size !== before + unitIds.length)
      issues.push({ path, message: "a unit can be named only once" });
  });
  const size = gang?.size ?? 1;
  const units = size * devices.reduce((sum, line) => sum + line.count, 0);
  if (units > UNITS_MAX)
    issues.push({
      path: ["devices"],
      message: `a reservation has at most ${UNITS_MAX} units; this one asks for ${units}`,
    });
  return issues;
}

function sharingIssues(devices: readonly DeviceLine[], config: PoolConfig): InputIssue[] {
  return devices.flatMap(({ sharing }, at) =>
    sharing === undefined || sharing === config.sharing
      ? []
      : [
          {
            path: ["devices", at, "sharing"],
            message: `the pool's sharing mode is ${config.sharing}`,
          },
        ],
  );
}
