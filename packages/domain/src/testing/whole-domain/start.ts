/** Two small pools, drawn as plain data, and the hardware that nodes of theirs report. */
import fc from "fast-check";
import type { GpuReport, NodeReport } from "../../fleet/report.ts";
import { nodeIdOf } from "../../fleet/put-nodes.ts";
import type { NodeId } from "../../ids.ts";
import type { PoolPolicy, QuotaRow } from "../../model.ts";
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

type Arbs<T> = { readonly [K in keyof T]: fc.Arbitrary<T[K]> };

export const policyArb: Arbs<PolicyDraw> = {
  layout: fc.nat({ max: LAYOUTS.length - 1 }),
  replicas: fc.integer({ min: 2, max: 4 }),
  noticeSeconds: fc.constantFrom(120, 60, 300, 0),
  placement: fc.constantFrom("pack" as const, "spread" as const),
};
const few = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 255 }));
export const hardwareArb: Arbs<Hardware> = {
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

/** Two small nodes for tenants who may use most of them: everybody is in somebody's way. */
export const tightStartArb: fc.Arbitrary<Start> = fc
  .record({
    pool: poolArb(fc.constant("exclusive")),
    most: fc.constantFrom(3, 4, 6),
    gpus: fc.tuple(fc.integer({ min: 2, max: 3 }), fc.integer({ min: 2, max: 3 })),
  })
  .map(({ pool, most, gpus }) => ({
    pools: [pool, pool],
    nodes: gpus.map((count) => ({ ...PLAIN, gpus: count, pool: 0 })),
    quotas: ["t-a", "t-b", "t-own"].map((tenantId) => ({ tenantId, resource: "gpu", max: most })),
  }));

const PLAIN: Hardware = {
  missing: 0,
  sick: 0,
  domainOf: 8,
  vfio: 0,
  rack: "a",
  vcpu: 32,
  vfs: 0,
  disks: 0,
};

export const TENANTS = ["t-a", "t-b", "t-d", "t-own", "t-x"] as const;
