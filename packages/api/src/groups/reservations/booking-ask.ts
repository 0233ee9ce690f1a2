/** A booking request of the wire as the domain takes it: defaults filled in, durations in milliseconds. */
import type { Input } from "@berth/contract";
import {
  type Booker,
  type BookingShape,
  type InputIssue,
  NO_SCALARS,
  invariant,
  parseDuration,
} from "@berth/domain";
import type { TenantScope } from "../../call.ts";

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

/** What no pool can take at any time, by the request alone. */
export function bookingIssues(input: ShapeInput): InputIssue[] {
  const duration = parseDuration(input.duration);
  return [
    ...(duration.ok ? [] : [{ path: ["duration"], message: duration.message }]),
    ...unitsNamedAgain(input.devices),
  ];
}

/** Within a line each unit is named once; so it is over all of them. */
function unitsNamedAgain(devices: ShapeInput["devices"]): InputIssue[] {
  const named = new Set<string>();
  return devices.flatMap(({ selector }, at) => {
    const unitIds = selector?.unitIds ?? [];
    const again = unitIds.some((id) => named.has(id));
    for (const id of unitIds) named.add(id);
    const path = ["devices", at, "selector", "unitIds"];
    return again ? [{ path, message: "a unit can be named only once" }] : [];
  });
}

/** The request as the domain decides it; `bookingIssues` found nothing wrong with it. */
export function bookingAsk(
  input: ShapeInput,
  scope: TenantScope,
): Booker & { readonly shape: BookingShape } {
  const { tenantId, ancestors } = scope;
  return { tenantId, ancestors, shape: bookingShape(input) };
}

function bookingShape(input: ShapeInput): BookingShape {
  const duration = parseDuration(input.duration);
  invariant(duration.ok, "a request that was checked has a duration");
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
