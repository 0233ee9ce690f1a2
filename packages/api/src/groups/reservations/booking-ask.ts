/** A booking request of the wire as the domain takes it: defaults filled in, durations in milliseconds. */
import type { Input } from "@berth/contract";
import {
  type Booker,
  type BookingShape,
  type InputIssue,
  type Combination,
  NO_SCALARS,
  invariant,
  parseDuration,
  shapeIssues,
} from "@berth/domain";
import type { Call, TenantScope } from "../../call.ts";

/** The part of a request that says what is booked; the alternatives of a quote have it, too. */
export type ShapeInput = Pick<
  Input<"capacity.preview">,
  "devices" | "topology" | "start" | "duration" | "binding" | "resources" | "node" | "spot" | "gang"
>;

/** What no pool can take at any time, by the request alone. */
export function bookingIssues(input: ShapeInput): InputIssue[] {
  const duration = parseDuration(input.duration);
  return [
    ...(duration.ok ? [] : [{ path: ["duration"], message: duration.message }]),
    ...shapeIssues(combination(input)),
  ];
}

/** The request as the domain decides it; `bookingIssues` found nothing wrong with it. */
export function bookingAsk(
  { principal }: Call,
  input: ShapeInput,
  scope: TenantScope,
): Booker & { readonly shape: BookingShape } {
  const { tenantId, ancestors } = scope;
  const showWithheld = principal.role === "fleet-admin";
  return { tenantId, ancestors, showWithheld, shape: bookingShape(input) };
}

function bookingShape(input: ShapeInput): BookingShape {
  const duration = parseDuration(input.duration);
  invariant(duration.ok, "a request that was checked has a duration");
  return {
    ...combination(input),
    spot: input.spot ?? false,
    topology: input.topology ?? "any",
    resources: scalars(input.resources),
    start: input.start ?? null,
    durationMs: duration.ms,
  };
}

function combination({ binding, gang, node, devices }: ShapeInput): Combination {
  return {
    binding,
    gang: gang ?? null,
    node: node ? { profileId: node.profileId, profileVersion: node.profileVersion ?? null } : null,
    devices,
  };
}

function scalars(asked: ShapeInput["resources"]): BookingShape["resources"] {
  const { vcpu = 0, memoryGiB = 0, hugepages1Gi = 0 } = asked ?? {};
  return { ...NO_SCALARS, vcpu, memoryGiB, hugepages1Gi };
}
