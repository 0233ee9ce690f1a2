/**
 * Every rule of every field of the groups capacity and pools, written down by hand from what was asked for
 * and not from the schemas: a schema that drifts fails here. The reference's table of constraints links to
 * these names, and stops when a rule has no row.
 */
import type { MethodName } from "../contract.ts";
import { ABSENT, SAMPLE } from "./boundary.ts";
import type { Boundary } from "./boundary.ts";
import { policyBoundaries } from "./boundaries-policy.ts";
import {
  TIME_MAX,
  at,
  bool,
  durations,
  ident,
  int,
  members,
  object,
  oneOf,
  quotaMap,
  tenant,
  texts,
  word,
} from "./rows.ts";
import type { Place } from "./rows.ts";

const SHARING = ["exclusive", "mig", "timeslice", "mps"];
const TOPOLOGY = ["any", "nvlink-all"];

const line = { class: "gpu", count: 1 };

const preview = (field: string): Place => ({ method: "capacity.preview", field });

const PREVIEW: Boundary[] = [
  ...tenant(at("capacity.preview", "tenantId")),
  ...ident(preview("poolId"), "pool", true),
  ...ident(preview("projectId"), "prj", false),
  { ...preview("devices"), constraint: "required", accepts: [[line]], refuses: [ABSENT] },
  {
    ...preview("devices"),
    constraint: "list of object",
    accepts: [[line]],
    refuses: [line, "gpu", null, ["gpu"], [null]],
  },
  {
    ...preview("devices"),
    constraint: "1-8 items",
    accepts: [[line], Array(8).fill(line)],
    refuses: [[], Array(9).fill(line)],
  },
  {
    ...preview("devices"),
    constraint: "no other field",
    accepts: [[line]],
    refuses: [[{ ...line, cuont: 1 }]],
    beyond: true,
  },
  ...oneOf(
    preview("devices[].class"),
    ["gpu", "gpu.mig", "gpu.slot", "nic.vf", "disk", "node"],
    true,
  ),
  ...int(preview("devices[].count"), [1, 64], true),
  ...object(preview("devices[].selector"), {}, false),
  ...texts(preview("devices[].selector.model"), [1, 256], false),
  ...word(preview("devices[].selector.profile"), {
    max: 32,
    pattern: "^[A-Za-z0-9.+-]{1,32}$",
    accepts: ["3g.40gb", "1g.5gb+me", "A"],
    refuses: ["", "3g 40gb", "3g/40gb"],
  }),
  ...int(preview("devices[].selector.memoryGiB"), [0, 4_194_304], false),
  ...members(preview("devices[].selector.labels"), {
    keys: 128,
    values: 256,
    max: 16,
  }),
  {
    ...preview("devices[].selector.unitIds"),
    constraint: "optional",
    accepts: [ABSENT],
    refuses: [],
  },
  {
    ...preview("devices[].selector.unitIds"),
    constraint: "list of string",
    accepts: [[SAMPLE.unitId]],
    refuses: [SAMPLE.unitId, null, [1]],
  },
  {
    ...preview("devices[].selector.unitIds"),
    constraint: "1-64 items",
    accepts: [units(1), units(64)],
    refuses: [[], units(65)],
  },
  {
    ...preview("devices[].selector.unitIds"),
    constraint: "distinct",
    accepts: [units(2)],
    refuses: [[SAMPLE.unitId, SAMPLE.unitId]],
  },
  {
    ...preview("devices[].selector.unitIds[]"),
    constraint: "string",
    accepts: [SAMPLE.unitId],
    refuses: [1, null],
  },
  ...ident(preview("devices[].selector.unitIds[]"), "unit", undefined),
  ...oneOf(preview("devices[].topology"), TOPOLOGY, false),
  ...oneOf(preview("devices[].sharing"), SHARING, false).map(later),
  ...oneOf(preview("topology"), TOPOLOGY, false),
  ...int(preview("start"), [0, TIME_MAX], false).map(later),
  { ...preview("duration"), constraint: "required", accepts: ["1h"], refuses: [ABSENT] },
  ...durations(preview("duration")).map(later),
  ...oneOf(preview("binding"), ["hold", "node"], false),
  {
    ...preview("binding"),
    constraint: 'default "hold"',
    accepts: [ABSENT],
    refuses: [],
    becomes: "hold",
  },
  ...object(preview("resources"), {}, false),
  ...int(preview("resources.vcpu"), [0, 4_096], false),
  ...int(preview("resources.memoryGiB"), [0, 65_536], false),
  ...int(preview("resources.hugepages1Gi"), [0, 4_096], false),
  ...object(preview("node"), { profileId: "p" }, false),
  ...word(preview("node.profileId"), {
    required: true,
    max: 128,
    pattern: "^[A-Za-z0-9._:/-]{1,128}$",
    accepts: ["a", "Az09._:/-", "a".repeat(128)],
    refuses: ["", "a b", "a~b", "é"],
  }),
  ...int(preview("node.profileVersion"), [1, undefined], false),
  ...int(preview("leaseSeconds"), [30, 86_400], false),
  ...bool(preview("spot"), false),
  ...word(preview("idempotencyKey"), {
    required: true,
    max: 128,
    pattern: "^[A-Za-z0-9._:-]{1,128}$",
    accepts: ["a", "Az09._:-", "a".repeat(128)],
    refuses: ["", "a b", "a/b", "a~b", "a+b", "a=b", "é"],
  }),
  ...object(preview("wait"), { timeoutMs: 0 }, false),
  ...int(preview("wait.timeoutMs"), [0, 30_000], true),
  ...object(preview("gang"), { size: 2 }, false),
  ...int(preview("gang.size"), [2, 64], true),
  ...texts(preview("gang.topologyKey"), [0, 128], false),
];

function later(boundary: Boundary): Boundary {
  return { ...boundary, later: true };
}

function units(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `unit_${String(i).padStart(26, "0")}`);
}

const create = (field: string): Place => ({ method: "pools.create", field });
const offer = (field: string): Place => ({ method: "pools.offer", field });
const timeline = (field: string): Place => ({ method: "capacity.timeline", field });
const update = (field: string): Place => ({ method: "pools.update", field });

/** A method that takes a tenant and a pool. */
function reference(method: MethodName): Boundary[] {
  return [
    ...tenant({ method, field: "tenantId" }),
    ...ident({ method, field: "poolId" }, "pool", true),
  ];
}

function gpuModel(place: Place): Boundary[] {
  return word(place, {
    max: 32,
    pattern: "^[A-Za-z0-9-]{1,32}$",
    accepts: ["H100", "a-Z-9", "a".repeat(32)],
    refuses: ["", "H100 80GB", "H_100", "H.100"],
  });
}

export const BOUNDARIES: readonly Boundary[] = [
  ...tenant(at("capacity.summary", "tenantId")),
  ...reference("capacity.byPool"),
  ...PREVIEW,
  ...reference("capacity.timeline"),
  ...int(timeline("from"), [0, TIME_MAX], false).map(later),
  ...int(timeline("to"), [0, TIME_MAX], false).map(later),
  ...int(timeline("stepMinutes"), [5, 1_440], false),
  ...tenant(at("pools.list", "tenantId")),
  ...reference("pools.get"),
  ...tenant(create("tenantId")),
  ...ident(create("siteId"), "site", true),
  ...oneOf(create("class"), ["metal-host", "metal-dedicated", "vps-host", "provider"], true).map(
    later,
  ),
  ...gpuModel(create("gpuModel")),
  ...oneOf(create("sharing"), SHARING, false).map(later),
  {
    ...create("sharing"),
    constraint: 'default "exclusive"',
    accepts: [ABSENT],
    refuses: [],
    becomes: "exclusive",
  },
  ...oneOf(create("agent"), ["bcd", "none"], false).map(later),
  ...object(create("policy"), {}, false),
  ...quotaMap(create("ownerQuota"), false),
  ...ident(create("providerAccountId"), "pacct", false).map(later),
  ...word(create("idempotencyKey"), {
    max: 128,
    pattern: "^[A-Za-z0-9._~:/+=-]{1,128}$",
    accepts: ["a", "Az09._~:/+=-", "a".repeat(128)],
    refuses: ["", "a b", "a,b", "a#b", "é"],
  }),
  ...reference("pools.capacity"),
  ...reference("pools.offer"),
  ...tenant(offer("toTenantId")),
  ...quotaMap(offer("quota"), true),
  ...bool(offer("includeDescendants"), false),
  {
    ...offer("includeDescendants"),
    constraint: "default false",
    accepts: [ABSENT],
    refuses: [],
    becomes: false,
  },
  ...int(offer("priority"), [-1_000, 1_000], false),
  ...reference("pools.unoffer"),
  ...tenant(at("pools.unoffer", "toTenantId")),
  ...reference("pools.update"),
  ...object(update("policy"), {}, false),
  ...gpuModel(update("gpuModel")),
  ...reference("pools.archive"),
  ...policyBoundaries("pools.create"),
  ...policyBoundaries("pools.update"),
];
