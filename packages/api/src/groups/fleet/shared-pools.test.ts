/** MIG pools and slot pools, from the pool's layout to a booking and the next layout, on a real database. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PoolId } from "@berth/domain";
import type { Method } from "../../call.ts";
import { type TestApi, testApi } from "../../testing/test-api.ts";
import { type World, makeWorld } from "../../testing/world.ts";

let it: TestApi;
let world: World;
let bookings = 0;

beforeAll(async () => {
  it = await testApi();
  world = await makeWorld(it.invoke, it.admin);
});
afterAll(() => it.close());

const MODEL = "NVIDIA H100 80GB HBM3";
const as = (method: Method, input: object) => it.invoke(method, input, world.tokens.admin);
const tried = (method: Method, input: object) => it.outcome(method, input, world.tokens.admin);

interface Part {
  readonly id: string;
  readonly class: string;
  readonly profile: string | null;
  readonly placement: number | null;
  readonly gpuUuid: string | null;
  readonly memoryGiB: number | null;
  readonly parentUnitId: string | null;
  readonly healthy: boolean;
}

interface Held {
  readonly unitId: string;
  readonly parentUnitId: string | null;
}

async function newPool(sharing: string, policy: object, gpus = 2) {
  const { tenantId, siteId } = world;
  const ownerQuota = { gpu: 100, "gpu.mig": 100, "gpu.slot": 100 };
  const ask = { tenantId, siteId, class: "metal-host", sharing, policy, ownerQuota };
  const poolId = String((await as("pools.create", ask))["id"]);
  const name = `shared-${poolId.slice(-6)}`;
  const node = {
    name,
    gpus: Array.from({ length: gpus }, (_, index) => ({
      uuid: `GPU-${name}-${index}`,
      index,
      model: MODEL,
      memoryMiB: 81_559,
    })),
  };
  const put = await as("fleet.putNodes", { siteId, poolId, nodes: [node] });
  const nodeId = (put["nodes"] as { id: string }[])[0]?.id ?? "";
  const units = async (): Promise<Part[]> =>
    (await as("fleet.getNode", { tenantId, nodeId }))["units"] as Part[];
  const book = (devices: object[]) => {
    bookings += 1;
    const ask = { tenantId, poolId, devices, duration: "1h", idempotencyKey: `b-${bookings}` };
    return tried("reservations.create", ask);
  };
  return { poolId, nodeId, node, units, book };
}

const look = (units: readonly Part[]): string[] =>
  units.map(({ profile, placement }) => `${profile}@${placement}`);

async function rowOf(poolId: string, resource: string) {
  const { tenantId } = world;
  const { capacity } = await as("pools.capacity", { tenantId, poolId });
  return (capacity as { resource: string }[]).find((row) => row.resource === resource);
}

describe("a MIG pool", () => {
  test("refuses a layout that is legal slice by slice and impossible to place, in either order a legal one is taken", async () => {
    const { tenantId, siteId } = world;
    const create = (migLayout: object) =>
      tried("pools.create", {
        tenantId,
        siteId,
        class: "metal-host",
        sharing: "mig",
        policy: { migLayout },
      });
    const wide = ["1g.20gb", "1g.20gb", "1g.20gb", "1g.20gb", "1g.10gb", "1g.10gb", "1g.10gb"];
    const refused = await create({ [MODEL]: wide });
    expect(refused.error).toMatchObject({
      code: "INVALID_INPUT",
      issues: [{ path: ["policy", "migLayout", MODEL, 4] }],
    });
    expect((await create({ [MODEL]: ["3g.40gb", "4g.40gb"] })).code).toBe("OK");
    expect((await create({ [MODEL]: ["4g.40gb", "3g.40gb"] })).code).toBe("OK");
    expect((await create({ "NVIDIA L40S": ["1g.10gb"] })).error).toMatchObject({
      code: "INVALID_INPUT",
      issues: [{ path: ["policy", "migLayout", "NVIDIA L40S"] }],
    });
  });

  test("books instances by profile, and takes its next layout in the write that ends the last booking", async () => {
    const { tenantId } = world;
    const pool = await newPool("mig", { migLayout: { [MODEL]: ["3g.40gb", "4g.40gb"] } });
    expect(look(await pool.units())).toEqual(["4g.40gb@0", "3g.40gb@4", "4g.40gb@0", "3g.40gb@4"]);
    expect(await rowOf(pool.poolId, "gpu.mig")).toMatchObject({ total: 4, available: 4 });
    const wish = [{ class: "gpu.mig", count: 1, selector: { profile: "3g.40gb" } }];
    const booked = await pool.book(wish);
    expect(booked.code).toBe("OK");
    expect(booked.output).toMatchObject({
      members: [{ atoms: [{ profile: "3g.40gb", parentUnitId: expect.stringMatching(/^unit_/) }] }],
    });

    const layout = { migLayout: { [MODEL]: Array(7).fill("1g.10gb") } };
    await as("pools.update", { tenantId, poolId: pool.poolId, policy: layout });
    expect(await pool.units()).toHaveLength(4);
    const again = await as("fleet.putNodes", { siteId: world.siteId, nodes: [pool.node] });
    expect(again["nodes"]).toMatchObject([{ outcome: "unchanged" }]);

    const reservationId = String((booked.output as { id: string }).id);
    await as("reservations.release", { tenantId, reservationId });
    expect(look(await pool.units()).slice(0, 7)).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((start) => `1g.10gb@${start}`),
    );
    expect(await rowOf(pool.poolId, "gpu.mig")).toMatchObject({ total: 14, available: 14 });
    // What it held is gone and is shown all the same.
    const ended = await as("reservations.get", { tenantId, reservationId });
    expect(ended["members"]).toMatchObject([{ atoms: [{ profile: "3g.40gb" }] }]);
    const { code } = await pool.book([{ class: "gpu.mig", count: 14 }]);
    expect(code).toBe("OK");
  });

  test("takes a layout of more units than one write holds in several, as the worker comes by", async () => {
    const { tenantId, siteId } = world;
    const whole = { migLayout: { [MODEL]: ["7g.80gb"] } };
    const { poolId } = await newPool("mig", whole, 0);
    const nodes = Array.from({ length: 12 }, (_, n) => ({
      name: `wide-${n}`,
      gpus: Array.from({ length: 64 }, (_, index) => ({
        uuid: `GPU-wide-${n}-${index}`,
        index,
        model: MODEL,
      })),
    }));
    await as("fleet.putNodes", { siteId, poolId, nodes });
    const counts = async () =>
      it.database.sql<{ units: number }[]>`
        select count(*)::int as units from units
        where gate_id = ${poolId} and class = 'gpu.mig' and gone_at is null`;
    expect(await counts()).toEqual([{ units: 768 }]);
    const sevenths = { migLayout: { [MODEL]: Array(7).fill("1g.10gb") } };
    await as("pools.update", { tenantId, poolId, policy: sevenths });
    const [after] = await counts();
    expect(after?.units).toBeLessThan(5_376);
    // What the worker does: it looks whether something is due, and there is.
    await it.deps.engine.settle([poolId as PoolId]);
    expect(await counts()).toEqual([{ units: 5_376 }]);
    expect(await rowOf(poolId, "gpu.mig")).toMatchObject({ total: 5_376, available: 5_376 });
  });

  test("has no GPUs to book, and says which sharing mode is why; an owner without a quota row has none", async () => {
    const pool = await newPool("mig", { migLayout: { [MODEL]: ["7g.80gb"] } });
    const whole = await pool.book([{ class: "gpu", count: 1 }]);
    expect(whole.error).toMatchObject({ code: "NO_CAPACITY" });
    expect(whole.error?.message).toContain("mig");
    const { tenantId, siteId } = world;
    const bare = await as("pools.create", {
      tenantId,
      siteId,
      class: "metal-host",
      sharing: "mig",
    });
    const unpaid = await tried("reservations.create", {
      tenantId,
      poolId: bare["id"],
      devices: [{ class: "gpu.mig", count: 1 }],
      duration: "1h",
      idempotencyKey: "no-row",
    });
    expect(unpaid.error).toMatchObject({ code: "QUOTA_EXCEEDED" });
  });
});

describe("a slot pool", () => {
  test("has replicas a GPU, gives two of one request on two GPUs, and no more than there are", async () => {
    const pool = await newPool("timeslice", { sharing: { replicas: 4 } });
    expect(await rowOf(pool.poolId, "gpu.slot")).toMatchObject({ total: 8 });
    const two = await pool.book([{ class: "gpu.slot", count: 2 }]);
    const [member] = (two.output as { members: { atoms: Held[] }[] }).members;
    expect(new Set(member?.atoms.map(({ unitId }) => unitId)).size).toBe(2);
    expect(new Set(member?.atoms.map(({ parentUnitId }) => parentUnitId)).size).toBe(2);
    for (let i = 0; i < 6; i += 1)
      expect((await pool.book([{ class: "gpu.slot", count: 1 }])).code).toBe("OK");
    const ninth = await pool.book([{ class: "gpu.slot", count: 1 }]);
    expect(ninth.error).toMatchObject({ code: "NO_CAPACITY" });
    expect(await rowOf(pool.poolId, "gpu.slot")).toMatchObject({ allocated: 8, available: 0 });
  });

  test("shows a part as unsound while its GPU is", async () => {
    const pool = await newPool("mps", { sharing: { replicas: 2 } });
    const unitId = (await pool.units())[0]?.parentUnitId ?? "";
    await it.invoke("fleet.setUnitHealth", { unitId, healthy: false }, it.admin);
    expect((await pool.units()).map(({ healthy }) => healthy)).toEqual([false, false, true, true]);
    expect(await rowOf(pool.poolId, "gpu.slot")).toMatchObject({ total: 4, unhealthy: 2 });
  });
});

test("a node that moves out of a shared pool has whole GPUs again", async () => {
  const { tenantId } = world;
  const pool = await newPool("timeslice", { sharing: { replicas: 2 } });
  await it.invoke("fleet.assignNode", { nodeId: pool.nodeId, poolId: null }, it.admin);
  expect((await pool.units()).map((unit) => unit.class)).toEqual(["gpu", "gpu"]);
  const back = { nodeId: pool.nodeId, poolId: pool.poolId };
  await it.invoke("fleet.assignNode", back, it.admin);
  expect(await pool.units()).toHaveLength(4);
  const { nodes } = await as("fleet.listNodes", { tenantId, poolId: pool.poolId });
  expect(nodes).toHaveLength(1);
});
