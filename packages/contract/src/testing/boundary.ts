/** What a boundary is, and how to put a value at a field of an otherwise good request. */
import type { MethodName } from "../contract.ts";

/** Stands for "the field is not there". */
export const ABSENT: unique symbol = Symbol("absent");

/** One rule of one field, with values on either side of it. */
export interface Boundary {
  readonly method: MethodName;
  /** As the reference writes it: `devices[].count`; a map's values are `quota.*`, a list's entries `list[]`. */
  readonly field: string;
  readonly constraint: string;
  readonly accepts: readonly unknown[];
  readonly refuses: readonly unknown[];
  /** What the first accepted value is parsed to, where that differs from itself. */
  readonly becomes?: unknown;
  /** A rule that a JSON Schema cannot state. */
  readonly beyond?: true;
  /**
   * The contract takes the accepted values; the rules that follow may still say that they do not go together
   * with the fields around them, or with the pool.
   */
  readonly later?: true;
}

/** `method field constraint`: the name of the test, and of the link in the reference. */
export function boundaryName(boundary: Boundary): string {
  return `${boundary.method} ${boundary.field} ${boundary.constraint}`;
}

export const SAMPLE = {
  tenantId: "acme",
  toTenantId: "zeta",
  poolId: `pool_${"0".repeat(26)}`,
  siteId: `site_${"0".repeat(26)}`,
  unitId: `unit_${"0".repeat(26)}`,
  accountId: `pacct_${"0".repeat(26)}`,
} as const;

const { tenantId, poolId, siteId, toTenantId } = SAMPLE;
const ref = { tenantId, poolId };

/** A good request to each method of the groups capacity and pools. */
const REQUESTS: Partial<Record<MethodName, object>> = {
  "capacity.summary": { tenantId },
  "capacity.byPool": ref,
  "capacity.preview": {
    ...ref,
    devices: [{ class: "gpu", count: 1 }],
    duration: "1h",
    idempotencyKey: "k",
  },
  "capacity.timeline": ref,
  "pools.list": { tenantId },
  "pools.get": ref,
  "pools.create": { tenantId, siteId, class: "metal-host" },
  "pools.capacity": ref,
  "pools.offer": { ...ref, toTenantId, quota: { gpu: 8 } },
  "pools.unoffer": { ...ref, toTenantId },
  "pools.update": { ...ref, gpuModel: "H100", policy: {} },
  "pools.archive": ref,
};

/** What an object needs beside the field under test. */
const AROUND: Readonly<Record<string, object>> = {
  node: { profileId: "p" },
  wait: { timeoutMs: 0 },
  gang: { size: 2 },
  "policy.sharing": { replicas: 2 },
  "policy.spot": { noticeSeconds: 0 },
  "policy.kubernetes": { endpoint: "https://cluster", token: "t", caHash: "h" },
};

/** A good request to the method. */
export function goodRequest(method: MethodName): Record<string, unknown> {
  const request = REQUESTS[method];
  if (!request) throw new Error(`no sample request for ${method}`);
  return structuredClone(request) as Record<string, unknown>;
}

/** A request that is good but for `field`, which holds `value` (or is not there). */
export function boundaryRequest(method: MethodName, field: string, value: unknown): unknown {
  const request = goodRequest(method);
  const steps = stepsOf(field);
  let at: Record<string | number, unknown> = request;
  let path = "";
  for (const [index, step] of steps.entries()) {
    path = typeof step === "number" ? path : path ? `${path}.${step}` : step;
    if (index === steps.length - 1) {
      if (value === ABSENT) delete at[step];
      else at[step] = value;
      break;
    }
    const next = steps[index + 1];
    at[step] ??= typeof next === "number" ? [] : { ...AROUND[path] };
    at = at[step] as Record<string | number, unknown>;
  }
  if (field === "devices[].selector.unitIds" && Array.isArray(value)) {
    const [line] = request["devices"] as { count: number }[];
    if (line) line.count = Math.min(Math.max(value.length, 1), 64);
  }
  if (isOfNodes(field, value)) ofNodes(request, field);
  // A provider pool and its account come together or not at all.
  if (field === "providerAccountId" && value !== ABSENT) request["class"] = "provider";
  if (field === "class" && value === "provider") request["providerAccountId"] = SAMPLE.accountId;
  return request;
}

/** Whether the value is one of a lease of whole nodes, which takes several fields together. */
function isOfNodes(field: string, value: unknown): boolean {
  if (field === "binding" || field === "devices[].class") return value === "node";
  return field.startsWith("node.") || (field === "node" && value !== ABSENT);
}

/** Adds what a lease of nodes needs beside the field under test. */
function ofNodes(request: Record<string, unknown>, field: string): void {
  if (field !== "binding") request["binding"] = "node";
  if (field !== "devices[].class") request["devices"] = [{ class: "node", count: 1 }];
  if (!("node" in request)) request["node"] = AROUND["node"];
}

/** Where the field is, as an issue's path starts: `devices[].count` is `["devices", 0, "count"]`. */
export function stepsOf(field: string): (string | number)[] {
  // A list of profiles goes with a model that has them; a profile of any form with one that nobody knows.
  const key = field === "policy.migLayout.*" ? "A100" : "gpu";
  return field
    .replaceAll("[]", ".0")
    .split(".")
    .map((part) => (part === "0" ? 0 : part === "*" ? key : part));
}
