/**
 * The booking request: what reservations.create, capacity.preview and reservations.quote take. One schema, so
 * that what was previewed is what is booked.
 */
import { z } from "zod";
import {
  LIMITS,
  PATTERNS,
  binding,
  deviceClass,
  duration,
  integer,
  list,
  map,
  poolId,
  projectId,
  sharingMode,
  tenantId,
  text,
  time,
  token,
  topology,
  unitId,
} from "./common.ts";

export const selector = z
  .strictObject({
    model: text().optional().describe("The GPU's model, equal to what the hardware reports."),
    profile: token(PATTERNS.migProfile, 32, "must be a MIG profile such as 3g.40gb")
      .optional()
      .describe("The MIG profile, such as `3g.40gb`; equal."),
    memoryGiB: integer(0, LIMITS.diskGiB)
      .optional()
      .describe("At least this much: a GPU's memory or a disk's size, GiB."),
    labels: map(text(LIMITS.topologyKeyLength), text(LIMITS.nameLength, 0), LIMITS.selectorLabels)
      .optional()
      .describe("Labels the node must carry, each equal."),
    unitIds: list(unitId, LIMITS.unitIds, 1)
      .refine((ids) => new Set(ids).size === ids.length, "must name each unit once")
      .meta({ uniqueItems: true })
      .optional()
      .describe(
        "These very units, each once; `count` says how many they are. Not for gangs, nor for whole nodes.",
      ),
  })
  .meta({
    id: "Selector",
    description: "Which units a line may take. Everything given must hold.",
  });

export const deviceLine = z
  .strictObject({
    class: deviceClass.describe(
      "What kind of unit. `node` stands alone, and goes with `binding: node` and no other.",
    ),
    count: integer(1, LIMITS.devicesPerLine).describe(
      "How many, all on one node (per gang member). Of `node`: how many nodes; in a gang 1, a node a member.",
    ),
    selector: selector.optional().describe("Narrows which units will do."),
    topology: topology.optional().describe("NVLink wish of this line; absent: the request's."),
    sharing: sharingMode
      .optional()
      .describe("The sharing mode you count on; another than the pool's is INVALID_INPUT."),
  })
  .refine((line) => !line.selector?.unitIds || line.selector.unitIds.length === line.count, {
    path: ["selector", "unitIds"],
    error: "must name as many units as count says",
  })
  .meta({ id: "DeviceLine", description: "One line of a request: so many units of one kind." });

export const resourcesAsk = z
  .strictObject({
    vcpu: integer(0, LIMITS.vcpu).optional().describe("Virtual CPUs; absent: 0."),
    memoryGiB: integer(0, LIMITS.memoryGiB).optional().describe("Memory, GiB; absent: 0."),
    hugepages1Gi: integer(0, LIMITS.hugepages1Gi)
      .optional()
      .describe("Huge pages of 1 GiB; absent: 0."),
  })
  .meta({
    id: "ResourcesAsk",
    description: "Divisible node resources asked for, per gang member.",
  });

export const nodeAsk = z
  .strictObject({
    profileId: token(
      PATTERNS.profileId,
      128,
      "must be 1 to 128 characters of A-Z, a-z, 0-9 and . _ : / -",
    ).describe("The profile to provision the nodes with: a tag of yours, not looked up."),
    profileVersion: integer(1, Number.MAX_SAFE_INTEGER)
      .optional()
      .describe("Its version; absent: yours to choose later."),
  })
  .meta({
    id: "NodeAsk",
    description: "How leased nodes are to be set up: with `binding: node`, and only then.",
  });

export const waitAsk = z
  .strictObject({
    timeoutMs: integer(0, 30_000).describe(
      "Wait for room at most this long, milliseconds; 0: not at all.",
    ),
  })
  .meta({ id: "WaitAsk", description: "What to do when there is no room yet." });

export const gangAsk = z
  .strictObject({
    size: integer(2, LIMITS.gangSize).describe(
      "How many members. Every one gets all of `devices` and `resources`, or nobody gets anything.",
    ),
    topologyKey: text(LIMITS.topologyKeyLength, 0)
      .optional()
      .describe("A node label whose value all members' nodes must share, such as a rack's."),
  })
  .meta({ id: "GangAsk", description: "Several members booked together, all or nothing." });

/** What may vary between the alternatives of a quote. */
const shape = {
  devices: list(deviceLine, LIMITS.deviceLines, 1).describe(
    "What to book, a line a kind of unit. A member's lines are never split over nodes; with all members it is at most 4,096 units.",
  ),
  topology: topology.optional().describe("NVLink wish of all GPU lines; absent: `any`."),
  start: time
    .optional()
    .describe(
      "When it begins, milliseconds since the epoch; absent: now. At most 60 s in the past, at most the pool's horizon ahead.",
    ),
  duration: duration.describe("How long: from 1 s up to the pool's `maxDuration`."),
  binding: binding
    .default("hold")
    .describe(
      "`hold` books units; `node` leases whole nodes, with `devices: [{ class: node }]` and a `node` set-up.",
    ),
  resources: resourcesAsk
    .optional()
    .describe(
      "CPU and memory on the node, beside the devices. Leased nodes come whole: there it is the least that each must have.",
    ),
  node: nodeAsk.optional().describe("Set-up of leased nodes: with `binding: node`, and only then."),
  spot: z
    .boolean()
    .optional()
    .describe("May be preempted, with the pool's notice, for a regular booking; absent: no."),
  gang: gangAsk.optional().describe("Book several members at once, all or nothing."),
};

export const bookingShape = z
  .strictObject({
    devices: shape.devices.optional(),
    topology: shape.topology,
    start: shape.start,
    duration: shape.duration.optional(),
    binding: binding.optional().describe("`hold` books units; `node` leases whole nodes."),
    resources: shape.resources,
    node: shape.node,
    spot: shape.spot,
    gang: shape.gang,
  })
  .meta({
    id: "BookingShape",
    description: "A part of a booking request; what it does not name is taken from the request.",
  });

const bookingKey = token(
  PATTERNS.bookingKey,
  128,
  "must be 1 to 128 characters of A-Z, a-z, 0-9 and . _ : -",
).meta({
  "x-client-fills": true,
  description:
    "Names this request for the caller. Repeating both answers the reservation that there is; using the key for another " +
    "request is CONFLICT. The typed client makes one when it is absent.",
});

const bookingFields = {
  tenantId,
  poolId: poolId.describe("The pool to book in."),
  projectId: projectId.optional(),
  ...shape,
  leaseSeconds: integer(30, 86_400)
    .optional()
    .describe(
      "The booking lapses unless renewed at least this often, seconds; absent: it lasts until its end.",
    ),
  idempotencyKey: bookingKey,
  wait: waitAsk
    .optional()
    .describe(
      "Wait for room instead of failing at once; the call answers when it is booked or the time is over. Hanging up ends the wait.",
    ),
};

export const bookingRequest = z
  .strictObject(bookingFields)
  .meta({ id: "BookingRequest", description: "A request to book units of a pool for a window." });

export const quoteRequest = z
  .strictObject({
    ...bookingFields,
    alternatives: list(bookingShape, LIMITS.alternatives)
      .optional()
      .describe("Other shapes to answer for in the same breath, each laid over the request."),
  })
  .meta({
    id: "QuoteRequest",
    description: "A booking request and the alternatives to compare it with.",
  });
