/** What each role is shown of a pool and is told of what happens to it: its own fields, and no others. */
import type { Pool } from "@berth/client";
import type { RawInput } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canary } from "../canary/canaries.ts";
import { type Fleet, type TestServer, canaries, node, pool, startServer } from "../harness.ts";

/** One part of each kind: what an owner has to hide. */
const POLICY: NonNullable<RawInput<"pools.create">["policy"]> = {
  label: "rack one",
  singleTenant: false,
  hugepages: { size1Gi: 4 },
  kernelModules: ["CANARY-t-own-END"],
  prewarmImages: ["registry.test/CANARY-t-own-END"],
  kubernetes: {
    endpoint: "https://CANARY-t-own-END.test:6443",
    token: "CANARY-t-own-END",
    caHash: `sha256:${"0".repeat(64)}`,
  },
  placement: "spread",
};
const SECRET = ["hugepages", "kernelModules", "kubernetes", "prewarmImages"];
const SHOWN = ["label", "placement", "singleTenant"];

let server: TestServer;
let fleet: Fleet;
let nodeId: string;
beforeAll(async () => {
  server = await startServer();
  const plain = node("fields", 8);
  const gpus = plain.gpus?.map((gpu) => ({ ...gpu, vfioGroup: String(gpu.index) }));
  const offers = { "t-a": { gpu: 4 }, "t-b": { gpu: 6 } };
  const shape = { ...pool(0, 0), offers, policy: POLICY, nodes: [{ ...plain, gpus }] };
  fleet = await server.fleet(shape);
  nodeId = String(fleet.nodeIds[0]);
  for (const [tenantId, parentId] of [
    ["t-a.child", "t-a"],
    ["t-m", "t-own"],
  ] as const)
    await server.admin.fleet.putTenant({ tenantId, parentId, name: canary(tenantId) });
  const { owner: tenantId, poolId } = fleet;
  const more = { includeDescendants: true, priority: 5, quota: { gpu: 4 } };
  await server.admin.pools.offer({ tenantId, poolId, toTenantId: "t-a", ...more });
  for (const tenant of ["t-a", "t-b"]) {
    const booker = await server.as(tenant);
    await booker.reservations.create({
      tenantId: tenant,
      poolId,
      devices: [{ class: "gpu", count: 2 }],
      duration: "1h",
    });
  }
});
afterAll(() => server.stop());

/** The pool as it is got and as it is listed, alike. */
async function seen(
  tenantId: string,
  by = tenantId,
  role = "tenant-admin" as const,
): Promise<Pool> {
  const client = by === "platform" ? server.admin : await server.as(by, role);
  const got = await client.pools.get({ tenantId, poolId: fleet.poolId });
  const { pools } = await client.pools.list({ tenantId });
  expect(pools).toEqual([got]);
  return got;
}

const parts = (of: Pool) => ({
  policy: Object.keys(of.policy).toSorted(),
  quota: of.quota,
  offer: of.offer,
  offers: of.offers?.map(({ tenantId }) => tenantId) ?? null,
});

describe("a pool", () => {
  const all = { policy: [...SECRET, ...SHOWN].toSorted(), offer: null };
  const ownersQuota = [{ resource: "gpu", max: 2_147_483_647, used: 0, remaining: null }];

  it("is whole to its owner, in every role, and to the fleet's operator, but for the token", async () => {
    const whole = { ...all, offers: ["t-a", "t-b"], quota: ownersQuota };
    for (const role of ["tenant-admin", "tenant-operator", "tenant-viewer"] as const) {
      const mine = await seen("t-own", "t-own", role as "tenant-admin");
      expect(parts(mine)).toMatchObject(whole);
      expect(mine.policy.kubernetes).toEqual({
        endpoint: POLICY.kubernetes?.endpoint,
        caHash: POLICY.kubernetes?.caHash,
        tokenSet: true,
      });
    }
    expect(parts(await seen("t-own", "platform"))).toMatchObject(whole);
  });

  it("shows a guest no part that is its owner's, its own quota, and no other guest", async () => {
    const offer = { includeDescendants: true, priority: 5 };
    const guest = { policy: SHOWN, offers: null };
    expect(parts(await seen("t-a"))).toEqual({
      ...guest,
      offer,
      quota: [{ resource: "gpu", max: 4, used: 2, remaining: null }],
    });
    expect(parts(await seen("t-b"))).toEqual({
      ...guest,
      offer: { includeDescendants: false, priority: 0 },
      quota: [{ resource: "gpu", max: 6, used: 2, remaining: null }],
    });
  });

  it("shows who is below a guest what remains of the quota, and not how much that is of", async () => {
    expect(parts(await seen("t-a.child")).quota).toEqual([
      { resource: "gpu", max: null, used: null, remaining: 2 },
    ]);
    expect(parts(await seen("t-a.child"))).toMatchObject({ policy: SHOWN, offers: null });
  });

  it("shows its nodes' addresses to their owner alone", async () => {
    const address = async (tenantId: string) => {
      const client = await server.as(tenantId, "tenant-admin");
      const { nodes } = await client.fleet.listNodes({ tenantId, poolId: fleet.poolId });
      const one = await client.fleet.getNode({ tenantId, nodeId });
      return [one.address, ...nodes.map((each) => each.address)];
    };
    expect(await address("t-own")).toEqual(["fields.test:22", "fields.test:22"]);
    for (const guest of ["t-a", "t-b", "t-a.child"])
      expect(await address(guest)).toEqual([null, null]);
  });

  it("names no booking of another, neither in its nodes' schedules nor where there is no room", async () => {
    for (const tenantId of ["t-a", "t-b", "t-own", "t-a.child"]) {
      const client = await server.as(tenantId, "tenant-admin");
      const { nodes } = await client.fleet.listNodes({ tenantId, poolId: fleet.poolId });
      const spans = nodes.flatMap(({ units }) => units.flatMap((unit) => unit.spans));
      for (const { kind, reservationId } of spans)
        expect(reservationId === null).toBe(kind !== "mine");
      const { reservations } = await client.reservations.list({ tenantId });
      const mine = new Set(spans.map((span) => span.reservationId).filter((id) => id !== null));
      expect([...mine].toSorted()).toEqual(reservations.map(({ id }) => id).toSorted());
    }
  });
});

describe("an event", () => {
  /** Types that the tenant was told of, with the data's fields, since its cursor. */
  async function told(tenantId: string, types: RegExp): Promise<Record<string, unknown>[]> {
    await server.database.feedCaughtUp();
    const client = await server.as(tenantId, "tenant-admin");
    const { events } = await client.events.list({ tenantId, limit: 200 });
    return events
      .filter(({ type }) => types.test(type))
      .map(({ type, data }) => ({ type, ...(data as object) }));
  }

  it("of an offer names its receiver to the owner and to the receiver, and nobody else hears of it", async () => {
    const receivers = (of: Record<string, unknown>[]) =>
      [...new Set(of.map((data) => String(data["toTenantId"])))].toSorted();
    expect(receivers(await told("t-own", /^pool\.offered$/))).toEqual(["t-a", "t-b"]);
    for (const guest of ["t-a", "t-b"])
      expect(JSON.stringify(await told(guest, /^pool\.offered$/))).not.toContain(
        guest === "t-a" ? "t-b" : "t-a",
      );
    expect(await told("t-c", /./)).not.toContainEqual(
      expect.objectContaining({ type: "pool.offered" }),
    );
  });

  it("of a unit reservation is for operator, owner and managing org; its audience hears nothing", async () => {
    for (const org of ["t-own", "t-m"]) canaries.allow(org, "platform");
    const { units } = await server.admin.fleet.getNode({ tenantId: fleet.owner, nodeId });
    const made = await server.admin.unitReservations.create({
      nodeId,
      unitIds: [String(units.at(-1)?.id)],
      allowedOrgIds: ["t-a"],
      managingOrgIds: ["t-m"],
      reason: canary("platform"),
    });
    const ask = { nodeId, reservationId: made.id };
    await server.admin.unitReservations.release(ask);
    await server.admin.unitReservations.reclaim(ask);
    await server.admin.unitReservations.cancel(ask);
    for (const org of ["t-own", "t-m"])
      expect((await told(org, /^unitReservation\./)).length).toBeGreaterThanOrEqual(4);
    for (const org of ["t-a", "t-b", "t-a.child", "t-c"])
      expect(await told(org, /^unitReservation\./)).toEqual([]);
  });

  it("of an archived pool names its former guests to the owner alone", async () => {
    await server.admin.pools.archive({ tenantId: fleet.owner, poolId: fleet.poolId });
    const [mine] = await told("t-own", /^pool\.archived$/);
    expect(JSON.stringify(mine)).toContain("t-b");
    for (const guest of ["t-a", "t-b"]) {
      const text = JSON.stringify(await told(guest, /^pool\./));
      expect(text).not.toContain(guest === "t-a" ? '"t-b"' : '"t-a"');
      expect(text).not.toContain("CANARY-t-own");
    }
  });
});
