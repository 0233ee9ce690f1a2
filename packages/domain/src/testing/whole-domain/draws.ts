/** What is drawn: two small pools, and steps as plain data, so that a failure can be read. */
import fc from "fast-check";
import type { GpuReport, NodeReport } from "../../fleet/report.ts";
import { nodeIdOf } from "../../fleet/put-nodes.ts";
import type { NodeId } from "../../ids.ts";
import { NODE_STATES, type PoolPolicy, type QuotaRow } from "../../model.ts";
import { derive } from "../../reservations/test-kit.ts";

export const SITE = "site_00000000000000000000000000";
export const MODEL = "A100-80";
export const nodeIdAt = (n: number): NodeId => nodeIdOf(SITE, `n${n}`, derive);

export interface PolicyDraw {
  readonly layout: number;
  readonly replicas: number;
  readonly noticeSeconds: number;
  readonly placement: "pack" | "spread";
}
export interface PoolDraw extends PolicyDraw {
  readonly sharing: "exclusive" | "mig" | "timeslice";
}
/** A node's hardware; the GPUs in `missing` (bits) are not reported. */
export interface Hardware {
  readonly missing: number;
  readonly sick: number;
  readonly domainOf: number;
  readonly vfio: number;
  readonly rack: string | null;
  readonly vcpu: number;
  readonly vfs: number;
  readonly disks: number;
}
export interface NodeDraw extends Hardware {
  readonly gpus: number;
  readonly pool: number;
}
export interface Start {
  readonly pools: readonly PoolDraw[];
  readonly nodes: readonly NodeDraw[];
  readonly quotas: readonly QuotaRow[];
}

const LAYOUTS = [
  ["3g.40gb", "4g.40gb"],
  ["1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb"],
  ["7g.80gb"],
] as const;

export function policyOf(draw: PolicyDraw): PoolPolicy {
  return {
    migLayout: { [MODEL]: LAYOUTS[draw.layout] ?? LAYOUTS[0] },
    sharing: { replicas: draw.replicas },
    spot: { noticeSeconds: draw.noticeSeconds },
    placement: draw.placement,
  };
}

export function reportOf(n: number, draw: Hardware & Pick<NodeDraw, "gpus">): NodeReport {
  const gpus = Array.from({ length: draw.gpus }, (_, index) => index)
    .filter((index) => (draw.missing & (1 << index)) === 0)
    .map((index): GpuReport => ({
      uuid: `G${n}.${index}`,
      index,
      model: MODEL,
      memoryMiB: 81_920,
      vfioGroup: String(100 * draw.vfio + index),
      ...(draw.domainOf > 0 && { nvlinkDomain: `d${Math.floor(index / draw.domainOf)}` }),
      ...(draw.sick & (1 << index) ? { healthy: false } : {}),
    }));
  return {
    name: `n${n}`,
    labels: draw.rack === null ? {} : { rack: draw.rack },
    vcpu: draw.vcpu,
    memoryGiB: 64,
    gpus,
    nics: [{ name: "eth0", vfs: draw.vfs }],
    disks: Array.from({ length: draw.disks }, (_, at) => ({ name: `nvme${at}`, sizeGiB: 100 })),
  };
}

const policyArb = {
  layout: fc.nat({ max: LAYOUTS.length - 1 }),
  replicas: fc.integer({ min: 2, max: 4 }),
  noticeSeconds: fc.constantFrom(120, 60, 300, 0),
  placement: fc.constantFrom("pack" as const, "spread" as const),
};
const few = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 255 }));
const hardwareArb = {
  missing: few,
  sick: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.nat({ max: 255 })),
  domainOf: fc.constantFrom(8, 2, 0),
  vfio: fc.constantFrom(0, 0, 0, 1),
  rack: fc.constantFrom("a", "a", "b", null),
  vcpu: fc.constantFrom(32, 64, 8),
  vfs: fc.nat({ max: 2 }),
  disks: fc.nat({ max: 1 }),
};

function nodeArb(pool: number, gpusMax: number): fc.Arbitrary<NodeDraw> {
  return fc.record({
    ...hardwareArb,
    missing: fc.constant(0),
    sick: fc.constant(0),
    gpus: fc.integer({ min: 2, max: gpusMax }),
    pool: fc.constant(pool),
  });
}

const max = fc.constantFrom(16, 32, 8, 64);
const quotasArb: fc.Arbitrary<QuotaRow[]> = fc
  .record({
    a: max,
    b: max,
    vcpu: fc.constantFrom(16, 40, null),
    node: fc.constantFrom(1, 2, null),
  })
  .map(({ a, b, vcpu, node }) => [
    ...["t-a", "t-b", "t-own"].flatMap((tenantId) =>
      ["gpu", "gpu.mig", "gpu.slot"].map((resource) => {
        const factor = resource === "gpu" ? 1 : 2;
        return { tenantId, resource, max: (tenantId === "t-a" ? a : b) * factor };
      }),
    ),
    ...(vcpu === null ? [] : [{ tenantId: "t-a", resource: "vcpu", max: vcpu }]),
    ...(node === null ? [] : [{ tenantId: "t-b", resource: "node", max: node }]),
  ]);

const sharingArb = fc.constantFrom<PoolDraw["sharing"]>(
  "exclusive",
  "exclusive",
  "exclusive",
  "mig",
  "timeslice",
);
const poolArb = (sharing: fc.Arbitrary<PoolDraw["sharing"]>): fc.Arbitrary<PoolDraw> =>
  fc.record({ ...policyArb, sharing });

export const startArb: fc.Arbitrary<Start> = fc
  .tuple(poolArb(sharingArb), poolArb(sharingArb))
  .chain(([one, two]) =>
    fc.record({
      pools: fc.constant([one, two]),
      quotas: quotasArb,
      nodes: fc
        .tuple(
          fc.array(nodeArb(0, one.sharing === "exclusive" ? 8 : 3), { minLength: 2, maxLength: 3 }),
          fc.array(nodeArb(1, two.sharing === "exclusive" ? 4 : 2), { maxLength: 1 }),
        )
        .map(([here, there]) => [...here, ...there]),
    }),
  );

export const TENANTS = ["t-a", "t-b", "t-d", "t-own", "t-x"] as const;

export interface CreateStep {
  readonly do: "create";
  readonly pool: number;
  readonly tenant: (typeof TENANTS)[number];
  readonly form: "gang" | "hold" | "keyed" | "leases" | "leaseGang";
  readonly count: number;
  readonly size: number;
  /** Units by bits, of the node that it is about; null is any. */
  readonly exactly: { readonly node: number; readonly units: number } | null;
  readonly nvlink: boolean;
  readonly vfs: number;
  readonly vcpu: number;
  readonly spot: boolean;
  /** Minutes. */
  readonly ahead: number;
  readonly lasts: number;
  readonly leaseSeconds: number | null;
  readonly waits: number;
  readonly server: string;
}

export type Step =
  | CreateStep
  | { readonly do: "release" | "renew" | "terminate"; readonly which: number }
  | { readonly do: "extend"; readonly which: number; readonly by: number }
  | { readonly do: "pass" | "outage"; readonly minutes: number }
  | { readonly do: "distrust" }
  | {
      readonly do: "state";
      readonly node: number;
      readonly state: (typeof NODE_STATES)[number];
    }
  | {
      readonly do: "health";
      readonly node: number;
      readonly unit: number;
      readonly healthy: boolean;
    }
  | {
      readonly do: "maintain";
      readonly node: number;
      readonly ahead: number;
      readonly lasts: number;
    }
  | { readonly do: "callOff" | "move" | "remove"; readonly node: number }
  | { readonly do: "report"; readonly node: number; readonly pool: number; readonly like: Hardware }
  | {
      readonly do: "offer";
      readonly pool: number;
      readonly to: (typeof TENANTS)[number];
      readonly max: number;
      readonly priority: number;
    }
  | { readonly do: "unoffer"; readonly pool: number; readonly to: (typeof TENANTS)[number] }
  | { readonly do: "policy"; readonly pool: number; readonly like: PolicyDraw }
  | {
      readonly do: "setAside";
      readonly node: number;
      readonly units: number;
      readonly ahead: number;
      readonly lasts: number | null;
      readonly audience: readonly string[];
    }
  | {
      readonly do: "toMarket" | "reclaim" | "cancelTerm" | "reaffirm";
      readonly which: number;
      readonly units: number;
    }
  | { readonly do: "stopWaiting"; readonly which: number }
  | { readonly do: "server"; readonly id: string };

const which = fc.nat({ max: 30 });
const node = fc.constantFrom(0, 0, 1, 1, 2, 3, 4);
const pool = fc.constantFrom(0, 0, 0, 0, 0, 1);
const tenant = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...TENANTS.slice(0, -1)) },
  { weight: 1, arbitrary: fc.constantFrom(...TENANTS) },
);
const ahead = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 8 }));
const lasts = fc.integer({ min: 1, max: 10 });
const server = fc.constantFrom("s1", "s1", "s2");
const is = <T extends string>(name: T): fc.Arbitrary<T> => fc.constant(name);
const one = <T extends string>(...names: readonly T[]): fc.Arbitrary<T> =>
  fc.constantFrom(...names);
const rarely = fc.integer({ min: 0, max: 6 }).map((n) => n === 0);

const createArb: fc.Arbitrary<CreateStep> = fc.record({
  do: is("create"),
  pool,
  tenant,
  form: one("hold", "hold", "hold", "hold", "gang", "keyed", "leases", "leaseGang"),
  count: fc.constantFrom(1, 1, 2, 2, 3, 4, 8),
  size: fc.constantFrom(2, 2, 3),
  exactly: fc.option(fc.record({ node, units: fc.integer({ min: 1, max: 255 }) }), { freq: 8 }),
  nvlink: rarely,
  vfs: fc.constantFrom(0, 0, 0, 1),
  vcpu: fc.constantFrom(0, 0, 4, 16),
  spot: fc.constantFrom(true, true, false),
  ahead,
  lasts,
  leaseSeconds: fc.constantFrom(null, null, 60, 200),
  waits: fc.constantFrom(0, 0, 1, 4, 12),
  server,
});

const STATES = [...NODE_STATES, "ready", "ready", "ready"] as const;

export const stepArb: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: createArb },
  {
    weight: 4,
    arbitrary: fc.record({ do: one("release", "release", "renew", "terminate"), which }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: is("extend"), which, by: fc.integer({ min: 0, max: 6 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: is("pass"), minutes: fc.constantFrom(0.5, 1, 1, 2, 4) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: is("outage"), minutes: fc.constantFrom(1, 3) }),
  },
  { weight: 1, arbitrary: fc.record({ do: is("distrust") }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: is("state"), node, state: fc.constantFrom(...STATES) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: is("health"),
      node,
      unit: fc.nat({ max: 20 }),
      healthy: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: is("maintain"), node, ahead, lasts }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: one("callOff", "callOff", "move", "move", "remove"), node }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: is("report"), node, pool, like: fc.record(hardwareArb) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: is("offer"),
      pool,
      to: tenant,
      max: fc.constantFrom(0, 2, 6, 20),
      priority: fc.nat({ max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is("unoffer"), pool, to: tenant }) },
  { weight: 1, arbitrary: fc.record({ do: is("policy"), pool, like: fc.record(policyArb) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is("setAside"),
      node,
      units: fc.integer({ min: 1, max: 255 }),
      ahead,
      lasts: fc.option(lasts, { freq: 3 }),
      audience: fc.subarray(["t-a", "t-b", "t-own"]),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: one("toMarket", "toMarket", "reclaim", "cancelTerm", "reaffirm", "reaffirm"),
      which,
      units: fc.nat({ max: 255 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is("stopWaiting"), which }) },
  { weight: 1, arbitrary: fc.record({ do: is("server"), id: server }) },
);
