/**
 * What this release does not offer yet, in one place: each is refused by its field, before anything else
 * looks at it. When a feature arrives its lines here go.
 */
import type { DeviceLine, SharingMode } from "./model.ts";
import type { InputIssue } from "./refusal.ts";

/** The parts of a booking request that may name a feature that is not offered. */
export interface RequestFeatures {
  readonly devices: readonly Pick<DeviceLine, "class">[];
  readonly binding?: string | undefined;
  readonly spot?: boolean | undefined;
  readonly wait?: object | undefined;
  readonly gang?: object | undefined;
  readonly node?: object | undefined;
}

/** The issues of a booking request; none when everything that it asks for is offered. */
export function notOfferedInRequest(request: RequestFeatures): InputIssue[] {
  const issues: InputIssue[] = [];
  const no = (path: InputIssue["path"], what: string): void => {
    issues.push({ path, message: `${what} are not offered by this release` });
  };
  if (request.gang !== undefined) no(["gang"], "gang bookings");
  if (request.spot === true) no(["spot"], "spot bookings");
  if (request.wait !== undefined) no(["wait"], "waiting bookings");
  if (request.binding === "node") no(["binding"], "leases of whole nodes");
  else if (request.node !== undefined)
    issues.push({ path: ["node"], message: 'a node profile needs binding "node"' });
  request.devices.forEach((line, at) => {
    if (line.class === "node") no(["devices", at, "class"], "leases of whole nodes");
  });
  return issues;
}

/** The issues of a pool that is to be made. */
export function notOfferedInPool(pool: {
  readonly sharing: SharingMode;
  readonly policy: { readonly migLayout?: object | undefined };
}): InputIssue[] {
  const issues: InputIssue[] = [];
  if (pool.sharing !== "exclusive")
    issues.push({
      path: ["sharing"],
      message: "pools of shared GPUs are not offered by this release",
    });
  if (pool.policy.migLayout !== undefined)
    issues.push({
      path: ["policy", "migLayout"],
      message: "MIG layouts are not offered by this release",
    });
  return issues;
}
