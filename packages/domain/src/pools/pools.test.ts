import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PoolConfig } from "../model.ts";
import {
  NOW,
  TestTurn,
  accepted,
  booking,
  gpuNode,
  gpuPool,
  poolConfig,
  refused,
  turnOn,
} from "../reservations/test-kit.ts";
import { PoolState } from "../state/pool-state.ts";
import { archivePool } from "./archive.ts";
import { type CreatePoolAsk, OWNER_QUOTA_DEFAULT, createPool } from "./create.ts";
import { knownTables } from "./mig-layout.ts";
import { offerPool } from "./offer.ts";
import { guestPolicy, policyIssues, storedPolicy } from "./policy.ts";
import { unofferPool } from "./unoffer.ts";
import { updatePool } from "./update.ts";

const OWNER = { tenantId: "t-own" } as const;

const offerTo = (toTenantId: string, given = {}) => ({
  ...OWNER,
  toTenantId,
  quota: { gpu: 4 },
  includeDescendants: false,
  priority: 0,
  ...given,
});

function poolWith(given: Partial<PoolConfig> = {}): TestTurn {
  return turnOn(gpuPool(2, 8, given));
}

function book(turn: TestTurn, count: number, tenantId = "t-a"): void {
  turn.apply({ kind: "reservation", before: null, after: booking({ gpus: count, tenantId }) });
}

const rowsOf = (config: PoolConfig | null, tenantId: string) =>
  Object.fromEntries(
    (config?.quotas ?? []).filter((r) => r.tenantId === tenantId).map((r) => [r.resource, r.max]),
  );

describe("create", () => {
  const ask: CreatePoolAsk = {
    poolId: "pool_00000000000000000000000001",
    ...OWNER,
    siteId: "site_00000000000000000000000000",
    siteKind: "custom",
    region: "eu",
    class: "metal-host",
    gpuModel: "H100",
    sharing: "exclusive",
    policy: {},
    ownerQuota: OWNER_QUOTA_DEFAULT,
    providerAccountId: null,
    createdBy: "t-own/admin",
  };
  const blank = (): TestTurn =>
    new TestTurn(PoolState.load({ ...gpuPool(0, 0), gateId: ask.poolId, config: null }));

  it("makes version 1, with bcd and the owner's quota, and tells the owner alone", () => {
    const turn = blank();
    const config = accepted(createPool(turn, ask));
    expect(config).toMatchObject({ version: 1, agent: "bcd", offers: [], createdAt: NOW });
    expect(rowsOf(config, "t-own")).toEqual({ gpu: 2_147_483_647 });
    expect(turn.events).toMatchObject([
      { type: "pool.created", views: [{ tenantId: "t-own", data: { poolId: ask.poolId } }] },
    ]);
  });

  it.each([
    [{ class: "provider" }, "providerAccountId"],
    [{ class: "provider", providerAccountId: "pacct_0", agent: "bcd" }, "agent"],
    [{ providerAccountId: "pacct_0" }, "providerAccountId"],
    [{ sharing: "mig", policy: { migLayout: { H100: ["7g.40gb"] } } }, "policy"],
    [{ policy: { maxDuration: "0h" } }, "policy"],
  ] as const)("refuses %o by its field %s", (given, field) => {
    const turn = blank();
    const refusal = refused(createPool(turn, { ...ask, ...given } as CreatePoolAsk));
    expect(refusal).toMatchObject({ code: "INVALID_INPUT" });
    expect(refusal.code === "INVALID_INPUT" && refusal.issues[0]?.path[0]).toBe(field);
    expect(turn.changes).toEqual([]);
  });

  it("gives a provider pool no agent", () => {
    const provider = { class: "provider", providerAccountId: "pacct_0" } as const;
    expect(accepted(createPool(blank(), { ...ask, ...provider })).agent).toBe("none");
  });
});

describe("a policy", () => {
  const site = (siteKind: "custom" | "platform") => ({ siteKind, tables: knownTables });
  const join = { endpoint: "https://k8s", token: "secret", caHash: "sha256:0" };

  it.each([
    [{ sharing: { replicas: 1 } }, ["policy", "sharing", "replicas"]],
    [{ sharing: { replicas: 49 } }, ["policy", "sharing", "replicas"]],
    [{ hugepages: { size2Mi: 65_537 } }, ["policy", "hugepages", "size2Mi"]],
    [{ kernelModules: Array.from({ length: 65 }, () => "vfio") }, ["policy", "kernelModules"]],
    [{ prewarmImages: Array.from({ length: 65 }, () => "i") }, ["policy", "prewarmImages"]],
    [{ kubernetes: { endpoint: "https://k8s" } }, ["policy", "kubernetes"]],
    [{ spot: { noticeSeconds: 3_601 } }, ["policy", "spot", "noticeSeconds"]],
    [{ maxDuration: "P1Y" }, ["policy", "maxDuration"]],
    [{ horizon: 0 }, ["policy", "horizon"]],
    [{ migLayout: { H100: [] } }, ["policy", "migLayout", "H100"]],
    [{ migLayout: { L40S: ["1g.5gb"] } }, ["policy", "migLayout", "L40S"]],
    [
      { migLayout: { H100: ["7g.80gb"], "NVIDIA H100": ["7g.80gb"] } },
      ["policy", "migLayout", "NVIDIA H100"],
    ],
    [
      { migLayout: { H100: [...Array(4).fill("1g.20gb"), "1g.10gb"] } },
      ["policy", "migLayout", "H100", 4],
    ],
  ])("%o is refused at %o", (policy, path) => {
    expect(policyIssues(policy, site("custom")).map((issue) => issue.path)).toEqual([path]);
  });

  it("takes every part at its limits", () => {
    const policy = {
      label: "",
      singleTenant: true,
      sharing: { replicas: 48 },
      migLayout: { H100: Array(7).fill("1g.10gb"), "NVIDIA A30": ["4g.24gb"] },
      hugepages: { size1Gi: 0, size2Mi: 65_536 },
      kernelModules: Array.from({ length: 64 }, () => "vfio"),
      kubernetes: join,
      spot: { noticeSeconds: 0 },
      placement: "spread",
      maxDuration: "P366D",
      horizon: 1_000,
    } as const;
    expect(policyIssues(policy, site("custom"))).toEqual([]);
  });

  it("lets nodes of a platform site join a cluster only when the platform operates it", () => {
    expect(policyIssues({ kubernetes: join }, site("platform"))).toHaveLength(1);
    const operated = { kubernetes: join, platformOperated: true };
    expect(policyIssues(operated, site("platform"))).toEqual([]);
  });

  it("is stored without the token, and shown to a guest without how machines are run", () => {
    const stored = storedPolicy({
      label: "x",
      kubernetes: join,
      hugepages: { size1Gi: 1 },
      kernelModules: ["vfio"],
      prewarmImages: ["i"],
    });
    expect(JSON.stringify(stored)).not.toContain("secret");
    expect(stored.kubernetes).toEqual({
      endpoint: "https://k8s",
      caHash: "sha256:0",
      tokenSet: true,
    });
    expect(guestPolicy(stored)).toEqual({ label: "x" });
  });
});

describe("offer", () => {
  it("creates and resizes named rows, leaves the others, and keeps the pool's version", () => {
    const turn = poolWith();
    accepted(offerPool(turn, offerTo("t-a", { quota: { vcpu: 9 } })));
    const config = accepted(offerPool(turn, offerTo("t-a", { quota: { gpu: 2 }, priority: 7 })));
    expect(rowsOf(config, "t-a")).toEqual({ gpu: 2, vcpu: 9 });
    expect(config.offers.find((o) => o.tenantId === "t-a")?.priority).toBe(7);
    expect(config.version).toBe(1);
  });

  it("raises a maximum below what is in use to it, over any bookings", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 10 }), (used, max) => {
        const turn = poolWith();
        if (used > 0) book(turn, used);
        const config = accepted(offerPool(turn, offerTo("t-a", { quota: { gpu: max } })));
        expect(rowsOf(config, "t-a")).toEqual({ gpu: Math.max(used, max) });
      }),
    );
  });

  it("tells the owner and the offered tenant, and nobody else", () => {
    const turn = poolWith();
    accepted(offerPool(turn, offerTo("t-new")));
    const [event] = turn.events;
    expect(event?.views.map((view) => view.tenantId)).toEqual(["t-own", "t-new"]);
    expect(event?.views[0]?.data).toMatchObject({ toTenantId: "t-new", quota: { gpu: 4 } });
    expect(JSON.stringify(event?.views[1]?.data)).not.toContain("t-");
  });

  it("to the owner resizes its own rows and is told once", () => {
    const turn = poolWith();
    const config = accepted(offerPool(turn, offerTo("t-own", { quota: { gpu: 5 } })));
    expect(rowsOf(config, "t-own")).toEqual({ gpu: 5 });
    expect(turn.events[0]?.views).toHaveLength(1);
  });

  it.each([
    ["an archived pool", { archivedAt: NOW }, "t-a"],
    ["a timeslice pool", { sharing: "timeslice" }, "t-a"],
    ["an mps pool", { sharing: "mps" }, "t-a"],
    ["a singleTenant pool that another holds", { policy: { singleTenant: true } }, "t-new"],
  ] as const)("of %s is INVALID_STATE", (_name, given, to) => {
    const turn = poolWith(given);
    expect(refused(offerPool(turn, offerTo(to))).code).toBe("INVALID_STATE");
    expect(turn.changes).toEqual([]);
  });

  it("of a pool that holds tenant-owned nodes is for its owner only", () => {
    const pool = gpuPool(1, 1);
    const turn = turnOn({ ...pool, nodes: [gpuNode(0, 1, { tenantOwned: true })] });
    expect(refused(offerPool(turn, offerTo("t-a"))).code).toBe("INVALID_STATE");
    accepted(offerPool(turn, offerTo("t-own")));
  });

  it("of a singleTenant pool is never with descendants, and may be resized for its one tenant", () => {
    const offers = [{ tenantId: "t-a", includeDescendants: false, priority: 0 }];
    const turn = poolWith({ policy: { singleTenant: true }, offers });
    accepted(offerPool(turn, offerTo("t-a")));
    const wide = offerTo("t-a", { includeDescendants: true });
    expect(refused(offerPool(turn, wide)).code).toBe("INVALID_STATE");
  });

  it("has a limit on the rows of one tenant", () => {
    const turn = poolWith();
    const keys = (from: number) =>
      Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`k${from + i}`, 1]));
    accepted(offerPool(turn, offerTo("t-a", { quota: keys(0) })));
    expect(refused(offerPool(turn, offerTo("t-a", { quota: keys(32) }))).code).toBe(
      "INVALID_INPUT",
    );
  });
});

describe("unoffer", () => {
  it("drops the rows to what is in use, and removes nothing the second time", () => {
    const turn = poolWith();
    book(turn, 3);
    expect(accepted(unofferPool(turn, { ...OWNER, toTenantId: "t-a" }))).toEqual({ removed: true });
    expect(rowsOf(turn.state.config, "t-a")).toEqual({ gpu: 3 });
    expect(rowsOf(turn.state.config, "t-b")).toEqual({ gpu: 1_000 });
    expect(turn.takeEvents()).toEqual(["pool.unoffered"]);
    expect(accepted(unofferPool(turn, { ...OWNER, toTenantId: "t-a" }))).toEqual({
      removed: false,
    });
    expect(turn.takeEvents()).toEqual([]);
  });

  it("of the owner is INVALID_INPUT", () => {
    expect(refused(unofferPool(poolWith(), { ...OWNER, toTenantId: "t-own" }))).toMatchObject({
      code: "INVALID_INPUT",
      issues: [{ path: ["toTenantId"] }],
    });
  });
});

describe("update", () => {
  it("holds both of two updates of different fields, each one version on", () => {
    const turn = poolWith({ policy: { label: "old", prewarmImages: ["x"] } });
    accepted(updatePool(turn, { ...OWNER, gpuModel: "m2" }));
    const config = accepted(updatePool(turn, { ...OWNER, policy: { label: "new" } }));
    expect(config).toMatchObject({ gpuModel: "m2", policy: { label: "new" }, version: 3 });
    expect(config.policy.prewarmImages).toBeUndefined();
    expect(turn.takeEvents()).toEqual(["pool.updated", "pool.updated"]);
  });

  it("without a field is INVALID_INPUT, of an archived pool INVALID_STATE, at a stale version CONFLICT", () => {
    expect(refused(updatePool(poolWith(), OWNER)).code).toBe("INVALID_INPUT");
    const ask = { ...OWNER, gpuModel: "m2" };
    expect(refused(updatePool(poolWith({ archivedAt: NOW }), ask)).code).toBe("INVALID_STATE");
    expect(refused(updatePool(poolWith(), { ...ask, version: 2 })).code).toBe("CONFLICT");
  });

  it("turns singleTenant on only while at most one tenant holds an offer, without descendants", () => {
    const ask = { ...OWNER, policy: { singleTenant: true } };
    const held = (...offers: [string, boolean][]) =>
      poolWith({
        offers: offers.map(([tenantId, includeDescendants]) => ({
          tenantId,
          includeDescendants,
          priority: 0,
        })),
      });
    expect(refused(updatePool(poolWith(), ask)).code).toBe("INVALID_STATE");
    expect(refused(updatePool(held(["t-a", true]), ask)).code).toBe("INVALID_STATE");
    accepted(updatePool(held(["t-a", false]), ask));
    accepted(updatePool(held(), ask));
  });

  it("tells guests no more than what they see of the pool", () => {
    const turn = poolWith();
    accepted(updatePool(turn, { ...OWNER, policy: { label: "x", kernelModules: ["vfio"] } }));
    const [owner, ...guests] = turn.events[0]?.views ?? [];
    expect(owner?.data).toMatchObject({ changed: ["policy"], policy: { kernelModules: ["vfio"] } });
    expect(guests.map((guest) => guest.tenantId)).toEqual(["t-a", "t-b", "t-c"]);
    for (const guest of guests) expect(guest.data).not.toHaveProperty("policy");
  });
});

describe("archive", () => {
  it("removes every offer, drops quotas to what is in use, keeps the owner's, tells the owner alone", () => {
    const turn = poolWith({
      quotas: [
        { tenantId: "t-a", resource: "gpu", max: 9 },
        { tenantId: "t-b", resource: "gpu", max: 9 },
        { tenantId: "t-own", resource: "gpu", max: 9 },
      ],
    });
    book(turn, 2);
    const config = accepted(archivePool(turn, OWNER));
    expect(config).toMatchObject({ offers: [], archivedAt: NOW, version: 2 });
    expect(config.quotas).toEqual([
      { tenantId: "t-a", resource: "gpu", max: 2 },
      { tenantId: "t-own", resource: "gpu", max: 9 },
    ]);
    expect(turn.events).toHaveLength(1);
    expect(turn.events[0]?.views).toEqual([
      {
        tenantId: "t-own",
        data: { poolId: config.id, version: 2, tenantIds: ["t-a", "t-b", "t-c"] },
      },
    ]);
  });

  it("answers an archived pool unchanged, and tells nobody", () => {
    const turn = poolWith({ archivedAt: 5, version: 4 });
    expect(accepted(archivePool(turn, { ...OWNER, version: 1 }))).toMatchObject({ version: 4 });
    expect(turn.events).toEqual([]);
  });
});

describe("a tenant that does not own the pool", () => {
  it("finds nothing to offer, unoffer, update or archive", () => {
    const turn = turnOn(gpuPool(1, 1, poolConfig()));
    const guest = { tenantId: "t-a" };
    for (const result of [
      offerPool(turn, { ...offerTo("t-b"), ...guest }),
      unofferPool(turn, { ...guest, toTenantId: "t-b" }),
      updatePool(turn, { ...guest, gpuModel: "m" }),
      archivePool(turn, guest),
    ])
      expect(refused(result)).toEqual({ code: "NOT_FOUND" });
    expect(turn.changes).toEqual([]);
  });
});
