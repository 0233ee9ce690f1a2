/**
 * The canonical form of a create request, and its hash: what "the same request" means to an idempotency
 * key. Defaults are filled in, durations are milliseconds, the order of keys plays no part, an absent
 * start stays absent (it is now, whenever the call is made), and `wait` and the key itself are left out.
 */
import { createHash } from "node:crypto";
import type { Input } from "@berth/contract";
import { parseDuration } from "@berth/domain";

type CreateInput = Input<"reservations.create">;
type Line = CreateInput["devices"][number];

/** SHA-256 in hex of the canonical form. */
export function requestHash(input: CreateInput): string {
  const text = JSON.stringify(sorted(canonicalRequest(input)));
  return createHash("sha256").update(text).digest("hex");
}

export function canonicalRequest(input: CreateInput): object {
  const { poolId, projectId, start, leaseSeconds, node, gang, binding, resources } = input;
  const duration = parseDuration(input.duration);
  return {
    poolId,
    projectId: projectId ?? null,
    devices: input.devices.map(canonicalLine),
    topology: input.topology ?? "any",
    start: start ?? null,
    // One that cannot be read never made a reservation; as text it equals no stored request.
    duration: duration.ok ? duration.ms : input.duration,
    binding,
    resources: {
      vcpu: resources?.vcpu ?? 0,
      memoryGiB: resources?.memoryGiB ?? 0,
      hugepages1Gi: resources?.hugepages1Gi ?? 0,
    },
    node: node ? { profileId: node.profileId, profileVersion: node.profileVersion ?? null } : null,
    leaseSeconds: leaseSeconds ?? null,
    spot: input.spot ?? false,
    gang: gang ? { size: gang.size, topologyKey: gang.topologyKey ?? null } : null,
  };
}

/** The mode that a class says by itself, so naming it changes nothing. */
const SHARING_OF: Partial<Record<Line["class"], Line["sharing"]>> = {
  gpu: "exclusive",
  "gpu.mig": "mig",
};

function canonicalLine(line: Line): object {
  const { model, profile, memoryGiB, labels, unitIds } = line.selector ?? {};
  return {
    class: line.class,
    count: line.count,
    topology: line.topology ?? "any",
    sharing: line.sharing ?? SHARING_OF[line.class] ?? null,
    selector: {
      model: model ?? null,
      profile: profile ?? null,
      memoryGiB: memoryGiB ?? 0,
      labels: labels ?? {},
      // A set: in which order the units are named changes nothing.
      unitIds: unitIds ? [...unitIds].sort() : null,
    },
  };
}

/** The same value with the keys of every object in order. Depth is that of the schema. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}
