/** A booking request of the wire as the domain takes it: defaults filled in, durations in milliseconds. */
import type { Input } from "@berth/contract";
import {
  type Booker,
  type BookingShape,
  NO_SCALARS,
  notOfferedInRequest,
  parseDuration,
} from "@berth/domain";
import type { TenantScope } from "../../call.ts";
import { fromIssues, invalidInput } from "../../errors.ts";

/** The part of a request that says what is booked; the alternatives of a quote have it, too. */
export type ShapeInput = Pick<
  Input<"capacity.preview">,
  | "devices"
  | "topology"
  | "start"
  | "duration"
  | "binding"
  | "resources"
  | "node"
  | "spot"
  | "gang"
  | "wait"
>;

/** @throws ApiError on what no pool can take, before anything is looked at */
export function bookingAsk(
  input: ShapeInput,
  scope: TenantScope,
): Booker & { readonly shape: BookingShape } {
  const { tenantId, ancestors } = scope;
  return { tenantId, ancestors, shape: bookingShape(input) };
}

function bookingShape(input: ShapeInput): BookingShape {
  const issues = notOfferedInRequest(input);
  if (issues.length > 0) throw fromIssues(issues);
  const duration = parseDuration(input.duration);
  if (!duration.ok) throw invalidInput(["duration"], duration.message);
  return {
    devices: input.devices,
    topology: input.topology ?? "any",
    resources: scalars(input.resources),
    start: input.start ?? null,
    durationMs: duration.ms,
  };
}

function scalars(asked: ShapeInput["resources"]): BookingShape["resources"] {
  const { vcpu = 0, memoryGiB = 0, hugepages1Gi = 0 } = asked ?? {};
  return { ...NO_SCALARS, vcpu, memoryGiB, hugepages1Gi };
}
