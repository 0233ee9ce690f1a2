/**
 * What every group's schemas are built from: each pattern, each limit and each shared field, once.
 * Inputs are strict (an unknown field is refused); outputs name what they carry and nothing else passes.
 */
import {
  AGENTS,
  BINDINGS,
  DEVICE_CLASSES,
  NODE_STATES,
  POOL_CLASSES,
  RESERVATION_STATES,
  RESOURCES,
  SHARING_MODES,
  SLICES_MAX,
  TOPOLOGIES,
  UNIT_CLASSES,
  idPattern,
} from "@berth/domain";
import type { Id, IdPrefix } from "@berth/domain";
import { z } from "zod";

/** Every pattern of the wire. Ids have theirs from `idPattern`. */
export const PATTERNS = {
  tenantId: /^[A-Za-z0-9._:-]{1,128}$/,
  /** Keys of reservations: create, preview, quote. */
  bookingKey: /^[A-Za-z0-9._:-]{1,128}$/,
  /** Keys of pools.create. */
  poolKey: /^[A-Za-z0-9._~:/+=-]{1,128}$/,
  gpuModel: /^[A-Za-z0-9-]{1,32}$/,
  resourceKey: /^[A-Za-z][A-Za-z0-9._-]{0,63}$/,
  profileId: /^[A-Za-z0-9._:/-]{1,128}$/,
  migProfile: /^[A-Za-z0-9.+-]{1,32}$/,
  /** ISO 8601 without years and months, or the short form; whole numbers only. */
  duration:
    /^(?:P(?=\d|T\d)(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?|(?:\d+(?:ms|s|m|h|d|w))+)$/,
  cursor: /^[A-Za-z0-9_-]{1,512}$/,
  /** RFC 3339 with an offset. */
  timeText:
    /^\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/,
  /** No control characters, no lone surrogates. */
  text: /^[^\p{Cc}\p{Cs}]*$/u,
} as const;

/** Every limit of the wire that more than one field or file refers to. */
export const LIMITS = {
  /** 2^47 ms, the year 6429: every time and every window fits an exact integer. */
  timeMax: 140_737_488_355_328,
  durationMin: 1_000,
  durationText: 64,
  timeText: 35,
  nameLength: 256,
  topologyKeyLength: 128,
  messageLength: 4_096,
  /** A path of at most 32 steps, each as long as a name and every character of it escaped. */
  pointerLength: 131_072,
  deviceLines: 8,
  devicesPerLine: 64,
  unitIds: 64,
  selectorLabels: 16,
  gangSize: 64,
  vcpu: 4_096,
  memoryGiB: 65_536,
  hugepages1Gi: 4_096,
  diskGiB: 4_194_304,
  quotaKeys: 32,
  quotaMax: 2_147_483_647,
  priority: 1_000,
  alternatives: 16,
  buckets: 336,
  page: 200,
  pageDefault: 50,
  nodesPerCall: 500,
  nodeLabels: 64,
  gpusPerNode: 64,
  orgs: 64,
  /** Ids of a plan that a caller agrees to. */
  expected: 1_000,
  migProfiles: 32,
  memorySlices: SLICES_MAX,
  nicsPerNode: 64,
  vfsPerNic: 256,
  disksPerNode: 64,
  /** Over a whole putNodes call: what one transaction writes. */
  devicesPerCall: 20_000,
  /** Answers that have no page: more than any tenant has. */
  answer: 100_000,
} as const;

/** An id with this prefix: typed as the domain's, a string on the wire. */
export function id<P extends IdPrefix>(prefix: P): z.ZodType<Id<P>, string> {
  const schema = z
    .string()
    .max(prefix.length + 53, { abort: true })
    .regex(
      idPattern(prefix),
      `must be ${prefix}_ and 26 to 52 characters of 0-9 and a-z without i, l, o and u`,
    );
  // The pattern proves the prefix; zod cannot say so in its type.
  return schema as unknown as z.ZodType<Id<P>, string>;
}

/** A string of a fixed alphabet. */
export function token(pattern: RegExp, max: number, message: string): z.ZodString {
  return z.string().max(max, { abort: true }).regex(pattern, message);
}

/**
 * Text for people: NFC, no control characters. Its length is counted in code points, as JSON Schema and the
 * database count it: zod's own `max` counts an emoji twice.
 */
export function text(max: number = LIMITS.nameLength, min = 1): z.ZodString {
  return z
    .string()
    .min(min, { abort: true })
    .refine((value) => fits(value, max), {
      error: `must have at most ${max} characters`,
      abort: true,
    })
    .regex(PATTERNS.text, { error: "must have no control characters", abort: true })
    .refine((value) => value.normalize("NFC") === value, "must be in Unicode form NFC")
    .meta({ maxLength: max });
}

/** At most so many code points; a text of any length costs no more than one that just fits. */
function fits(value: string, max: number): boolean {
  if (value.length <= max) return true;
  return value.length <= 2 * max && Array.from(value).length <= max;
}

/** A name, label or reason: 1 to 256 characters. */
export function name(): z.ZodString {
  return text();
}

/** An integer in [min, max]. */
export function integer(min: number, max: number): z.ZodInt {
  return z.int().min(min).max(max);
}

/** A count in an answer. */
export function amount(): z.ZodInt {
  return z.int().min(0);
}

/** A list with its limits; every list of the wire has one. */
export function list<T extends z.ZodType>(item: T, max: number, min = 0): z.ZodArray<T> {
  return z.array(item).min(min).max(max, { abort: true });
}

/** A map with a limit on its keys; every map of the wire has one. */
export function map<K extends z.ZodString, V extends z.ZodType>(
  key: K,
  value: V,
  max: number,
): z.ZodRecord<K, V> {
  return z
    .record(key, value)
    .refine((record) => Object.keys(record).length <= max, `must have at most ${max} keys`)
    .meta({ maxProperties: max });
}

const MILLISECONDS = "whole milliseconds since 1970, as Date.now() gives them";

/** An instant. What people send first is text, a `Date`, or finer parts of a second. */
export const time: z.ZodInt = z
  .int({
    error: ({ input }) => (input === undefined ? undefined : `must be an integer: ${MILLISECONDS}`),
  })
  .min(0)
  .max(LIMITS.timeMax, { error: `must be at most ${LIMITS.timeMax}: ${MILLISECONDS}` });

export const tenantId: z.ZodString = token(
  PATTERNS.tenantId,
  128,
  "must be 1 to 128 characters of A-Z, a-z, 0-9 and . _ : -",
).describe("The tenant that the call is made for; you need a role on it or on a tenant above it.");

export const anyTenantId: z.ZodString = token(
  PATTERNS.tenantId,
  128,
  "must be 1 to 128 characters of A-Z, a-z, 0-9 and . _ : -",
);

export const poolId = id("pool").describe("The pool.");
export const siteId = id("site").describe("The site.");
export const nodeId = id("node").describe("The node.");
export const unitId = id("unit").describe("The unit.");
export const projectId = id("prj").describe(
  "A tag of the tenant's own: stored, returned, filtered by, never looked up.",
);
export const reservationId = id("rsv").describe("The reservation.");

export const version = integer(1, Number.MAX_SAFE_INTEGER);
export const ifVersion = version
  .optional()
  .describe(
    "The version you last saw; when it has moved on, the call is CONFLICT. Absent: no check.",
  );

export const limit = integer(1, LIMITS.page)
  .default(LIMITS.pageDefault)
  .describe("At most this many entries in the answer.");
export const cursorText = token(
  PATTERNS.cursor,
  512,
  "must be a cursor as an earlier answer gave it",
);
export const cursor = cursorText
  .optional()
  .describe("`nextCursor` of the page before; absent: the first page.");
export const nextCursor = cursorText
  .nullable()
  .describe("Give it back as `cursor` for the next page; null on the last page.");

export const resourceKey = token(
  PATTERNS.resourceKey,
  64,
  "must start with a letter and have at most 64 characters of A-Z, a-z, 0-9 and . _ -",
);
export const quotaMap = map(resourceKey, integer(0, LIMITS.quotaMax), LIMITS.quotaKeys).meta({
  id: "QuotaMap",
  description:
    "Most that may be in use at any one instant, by resource. Metered resources are " +
    `${RESOURCES.join(", ")}; any other key is stored and never metered.`,
  maxProperties: LIMITS.quotaKeys,
});

export const sharingMode = z.enum(SHARING_MODES).meta({
  id: "SharingMode",
  description: "How a pool's GPUs are cut: whole, into MIG instances, or into time slots.",
});
export const poolClass = z.enum(POOL_CLASSES).meta({
  id: "PoolClass",
  description: "What kind of machines a pool has.",
});
export const agent = z.enum(AGENTS).meta({
  id: "Agent",
  description: "The agent on the pool's nodes; provider pools have none.",
});
export const unitClass = z.enum(UNIT_CLASSES).meta({
  id: "UnitClass",
  description: "The kind of a bookable unit.",
});
export const deviceClass = z.enum(DEVICE_CLASSES).meta({
  id: "DeviceClass",
  description: "The kind of unit a line asks for; `node` is every unit of a whole node.",
});
export const topology = z.enum(TOPOLOGIES).meta({
  id: "Topology",
  description:
    "`nvlink-all`: the GPUs taken share one NVLink domain of one node. `any`: no such wish.",
});
export const nodeState = z.enum(NODE_STATES).meta({
  id: "NodeState",
  description: "Whether a node can take bookings: only `ready` ones do.",
});
export const binding = z.enum(BINDINGS).meta({
  id: "Binding",
  description: "`hold` books units; `node` leases whole nodes.",
});
export const reservationState = z.enum(RESERVATION_STATES).meta({
  id: "ReservationState",
  description:
    "Live: scheduled, active, preempting. Ended, for good: completed, released, expired, preempted, terminated.",
});
export const resource = z.enum(RESOURCES).meta({
  id: "Resource",
  description: "What a capacity row counts.",
});

/** A length of time as a caller writes it; its range is checked with the pool's policy. */
export const duration = z
  .union(
    [
      token(
        PATTERNS.duration,
        LIMITS.durationText,
        'must be whole milliseconds, ISO 8601 without years and months ("PT90M", "P7D") or short ("90m", "2h30m")',
      ),
      integer(LIMITS.durationMin, LIMITS.timeMax),
    ],
    { error: "must be a string or an integer of milliseconds" },
  )
  .meta({
    id: "Duration",
    description:
      "A length of time of at least 1 s. As a number, milliseconds; as text, ISO 8601 (`PT90M`, `P7D`, `P2W`) " +
      "or short (`90m`, `2h30m`, `7d`; units ms, s, m, h, d, w). Whole numbers only; years and months have no fixed " +
      "length and are refused.",
  });

export const scalarAmounts = z
  .object({
    vcpu: amount().describe("Virtual CPUs."),
    memoryGiB: amount().describe("Memory, GiB."),
    hugepages1Gi: amount().describe("Huge pages of 1 GiB."),
  })
  .meta({ id: "ScalarAmounts", description: "Amounts of a node's divisible resources." });
