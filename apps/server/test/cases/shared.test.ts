/** GPUs that are shared: MIG layouts that hardware can take, slots of time or of MPS, and how both are counted. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RawInput } from "@berth/contract";
import { type TestServer, startServer } from "../harness.ts";
import { NOW, outcome, range, refusal } from "./asking.ts";

const OWNER = "t-own";
const MODEL = "NVIDIA H100 80GB HBM3";

let server: TestServer;
let siteId: string;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
  await server.admin.fleet.putTenant({ tenantId: OWNER });
  siteId = (await server.admin.fleet.putSite({ tenantId: OWNER, name: "s", region: "r" })).id;
});
afterAll(async () => {
  await server.expectHealthy();
  await server.stop();
});

let made = 0;

/** A pool of this mode with one node of `gpus` GPUs; its owner may use `quota` of it. */
async function sharedPool(
  parts: Pick<RawInput<"pools.create">, "sharing" | "policy">,
  gpus: number,
  quota: Record<string, number> = { "gpu.mig": 100, "gpu.slot": 100 },
): Promise<string> {
  const class_ = "metal-host" as const;
  const ask = { tenantId: OWNER, siteId, class: class_, gpuModel: "H100", ownerQuota: quota };
  const { id: poolId } = await server.admin.pools.create({ ...ask, ...parts });
  made += 1;
  const name = `shared-${made}`;
  const devices = range(gpus).map((index) => ({
    uuid: `GPU-${name}-${index}`,
    index,
    model: MODEL,
    memoryMiB: 81_920,
  }));
  await server.admin.fleet.putNodes({ siteId, poolId, nodes: [{ name, gpus: devices }] });
  return poolId;
}

async function bookOf(poolId: string, unitClass: "gpu" | "gpu.mig" | "gpu.slot", count: number) {
  const berth = await server.as(OWNER);
  const devices = [{ class: unitClass, count }];
  return berth.reservations.create({ tenantId: OWNER, poolId, devices, duration: "1h" });
}

async function total(poolId: string, resource: string): Promise<number | undefined> {
  const { capacity } = await server.admin.capacity.byPool({ tenantId: OWNER, poolId });
  return capacity.find((row) => row.resource === resource)?.total;
}

const layout = (...profiles: string[]) => ({
  sharing: "mig" as const,
  policy: { migLayout: { [MODEL]: profiles } },
});

describe("a MIG layout", () => {
  it("that is legal by the slice and impossible together is refused, and says which profile and why", async () => {
    const impossible = [...range(4).map(() => "1g.20gb"), ...range(3).map(() => "1g.10gb")];
    const refused = await refusal(sharedPool(layout(...impossible), 1));
    expect(refused.code).toBe("INVALID_INPUT");
    expect(refused.field).toMatch(/^policy\.migLayout/);
    expect(refused.message).toMatch(/1g\.10gb|1g\.20gb/);
  });

  it("is a multiset: both orders of a 3g and a 4g make the same two instances", async () => {
    for (const profiles of [
      ["3g.40gb", "4g.40gb"],
      ["4g.40gb", "3g.40gb"],
    ]) {
      const poolId = await sharedPool(layout(...profiles), 1);
      expect(await total(poolId, "gpu.mig")).toBe(2);
      const mine = await bookOf(poolId, "gpu.mig", 2);
      const atoms = (mine.members ?? []).flatMap((member) => member.atoms);
      expect(atoms.map(({ profile }) => profile ?? "").toSorted()).toEqual(["3g.40gb", "4g.40gb"]);
      expect(new Set(atoms.map(({ parentUnitId }) => parentUnitId)).size).toBe(1);
    }
  });

  it("grants nothing to an owner without a quota of instances", async () => {
    const poolId = await sharedPool(layout("7g.80gb"), 1, { gpu: 8 });
    expect((await refusal(bookOf(poolId, "gpu.mig", 1))).code).toBe("QUOTA_EXCEEDED");
  });
});

describe("slots of a GPU", () => {
  it("are as many a GPU as the pool says: 2 to 48", async () => {
    const timeslice = (replicas: number) => ({
      sharing: "timeslice" as const,
      policy: { sharing: { replicas } },
    });
    expect(await outcome(sharedPool(timeslice(49), 1))).toBe("INVALID_INPUT");
    expect(await outcome(sharedPool(timeslice(1), 1))).toBe("INVALID_INPUT");
    expect(await total(await sharedPool(timeslice(48), 1), "gpu.slot")).toBe(48);
    expect(await total(await sharedPool({ sharing: "mps", policy: {} }, 1), "gpu.slot")).toBe(10);
  });

  it("are booked one by one until none is left, with the GPU that each is a part of", async () => {
    const four = { sharing: "timeslice" as const, policy: { sharing: { replicas: 4 } } };
    const poolId = await sharedPool(four, 2);
    expect(await total(poolId, "gpu.slot")).toBe(8);
    const parents: (string | null)[] = [];
    for (const _ of range(8)) {
      const mine = await bookOf(poolId, "gpu.slot", 1);
      parents.push(mine.members?.[0]?.atoms[0]?.parentUnitId ?? null);
    }
    const counts = Map.groupBy(parents, (parent) => parent);
    expect([...counts.values()].map((list) => list.length)).toEqual([4, 4]);
    expect(parents).not.toContain(null);
    expect((await refusal(bookOf(poolId, "gpu.slot", 1))).code).toBe("NO_CAPACITY");
  });

  it("are two different ones in one booking", async () => {
    const poolId = await sharedPool({ sharing: "mps", policy: { sharing: { replicas: 4 } } }, 2);
    const mine = await bookOf(poolId, "gpu.slot", 2);
    const atoms = mine.members?.[0]?.atoms ?? [];
    expect(new Set(atoms.map(({ unitId }) => unitId)).size).toBe(2);
    expect(atoms.every(({ parentUnitId }) => parentUnitId !== null)).toBe(true);
  });
});

describe("whole GPUs", () => {
  it.each([
    { sharing: "mig", parts: layout("7g.80gb") },
    { sharing: "timeslice", parts: { sharing: "timeslice" as const, policy: {} } },
  ])(
    "are not to be had in a pool that shares them ($sharing), and the refusal says why",
    async (row) => {
      const poolId = await sharedPool(row.parts, 1, { gpu: 8, "gpu.mig": 8, "gpu.slot": 8 });
      const refused = await refusal(bookOf(poolId, "gpu", 1));
      expect(refused.code).toBe("NO_CAPACITY");
      expect(refused.reason).toMatchObject({ code: "CLASS" });
      expect(refused.reason?.message).toContain(row.sharing);
    },
  );

  it("alone make up the sum by model: instances and slots are in no row of it", async () => {
    const { byGpuModel } = await server.admin.capacity.summary({ tenantId: OWNER });
    for (const row of Object.values(byGpuModel)) expect(row.total).toBe(0);
  });
});
