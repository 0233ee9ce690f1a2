/** Exact GPUs set aside for a tenant: they stay the ones that they are, and terms follow each other to the instant. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type PoolShape, type TestServer, pool, startServer } from "../harness.ts";
import { type Asker, DAY, HOUR, NOW, asker, outcome, refusal } from "./asking.ts";
import { expectConsistent } from "./invariants.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
});
afterAll(() => server.stop());

interface Machine {
  readonly fleet: Fleet;
  readonly shape: PoolShape;
  readonly nodeId: string;
  /** By index. */
  readonly units: readonly string[];
  readonly a: Asker;
  readonly b: Asker;
}

/** One node in a pool, its GPUs with VFIO groups. */
async function machine(gpus: number): Promise<Machine> {
  const plain = pool(1, gpus);
  const nodes = plain.nodes.map((node) => ({
    ...node,
    gpus: node.gpus?.map((gpu) => ({ ...gpu, vfioGroup: String(gpu.index) })),
  }));
  const shape = { ...plain, nodes };
  const fleet = await server.fleet(shape);
  const nodeId = fleet.nodeIds[0] ?? "";
  const { units } = await server.admin.fleet.getNode({ tenantId: fleet.owner, nodeId });
  const [a, b] = [await asker(server, "t-a", fleet), await asker(server, "t-b", fleet)];
  return { fleet, shape, nodeId, units: units.map(({ id }) => id), a, b };
}

/** Reports the node with these GPUs of its own, numbered anew. */
async function reportGpus({ fleet, shape }: Machine, indexes: readonly number[]): Promise<void> {
  const [node] = shape.nodes;
  if (!node) throw new Error("the shape has no node");
  const gpus = indexes.map((at, index) => {
    const gpu = node.gpus?.[at];
    if (!gpu) throw new Error(`the node has no GPU ${at}`);
    return { ...gpu, index };
  });
  await server.admin.fleet.putNodes({ siteId: fleet.siteId, nodes: [{ ...node, gpus }] });
}

/** Whether the tenant could book exactly this unit for the next hour. */
async function fits({ berth, tenantId, poolId }: Asker, unitId: string | undefined) {
  const selector = { unitIds: [String(unitId)] };
  const devices = [{ class: "gpu" as const, count: 1, selector }];
  return (await berth.capacity.preview({ tenantId, poolId, devices, duration: "1h" })).fits;
}

async function available({ berth, tenantId, poolId }: Asker) {
  const { capacity } = await berth.capacity.byPool({ tenantId, poolId });
  return capacity.find(({ resource }) => resource === "gpu")?.available;
}

describe("GPUs that are set aside on a node whose GPUs change", () => {
  it("are nobody's, and no other GPUs in their stead, until somebody has looked", async () => {
    const here = await machine(8);
    const { nodeId, units, a, b } = here;
    const made = await server.admin.unitReservations.create({
      nodeId,
      unitIds: units.slice(0, 2),
      allowedOrgIds: ["t-a"],
    });
    const ref = { nodeId, reservationId: made.id };
    const seen = () => server.admin.unitReservations.get(ref);
    expect(made).toMatchObject({ status: "active", topologyGen: 1 });

    // The same report again is no change.
    await reportGpus(here, [0, 1, 2, 3, 4, 5, 6, 7]);
    expect((await seen()).status).toBe("active");

    // The first GPU drops out, and each of the others has the index of the one before it.
    await reportGpus(here, [1, 2, 3, 4, 5, 6, 7]);
    expect(await seen()).toMatchObject({
      status: "needs-review",
      topologyGen: 1,
      reservedUnitIds: units.slice(0, 2),
    });
    for (const unitId of units.slice(0, 2))
      for (const who of [a, b]) expect(await fits(who, unitId)).toBe(false);
    for (const unitId of units.slice(2)) expect(await fits(b, unitId)).toBe(true);
    for (const who of [a, b]) expect(await available(who)).toBe(6);
    const early = await refusal(server.admin.unitReservations.reaffirm(ref));
    expect(early).toMatchObject({ code: "INVALID_STATE" });
    expect(early.message).toContain(units[0]);

    // It is back: still nobody's, until it is said that all is well.
    await reportGpus(here, [0, 1, 2, 3, 4, 5, 6, 7]);
    expect((await seen()).status).toBe("needs-review");
    expect(await fits(a, units[0])).toBe(false);
    const again = await server.admin.unitReservations.reaffirm(ref);
    expect(again).toMatchObject({ status: "active", topologyGen: 3 });
    for (const unitId of units.slice(0, 2)) {
      expect(await fits(a, unitId)).toBe(true);
      expect(await fits(b, unitId)).toBe(false);
    }
    expect([await available(a), await available(b)]).toEqual([8, 6]);
    await server.admin.unitReservations.cancel(ref);
    expect([await available(a), await available(b)]).toEqual([8, 8]);
    await expectConsistent(server, here.fleet);
  });
});

describe("a term beside another one of the only GPU", () => {
  const T = NOW + DAY;
  const terms: Record<string, [number, number | null, boolean]> = {
    same: [T, T + HOUR, false],
    inside: [T + 1, T + HOUR - 1, false],
    enclosing: [T - 1, T + HOUR + 1, false],
    "over its head by 1 ms": [T - HOUR, T + 1, false],
    "over its tail by 1 ms": [T + HOUR - 1, T + 2 * HOUR, false],
    "open, from before it": [T - HOUR, null, false],
    "up to its start": [T - HOUR, T, true],
    "from its end": [T + HOUR, T + 2 * HOUR, true],
    "open, from its end": [T + HOUR, null, true],
  };
  const text = (time: number) => new Date(time).toISOString();

  let here: Machine;
  beforeAll(async () => {
    here = await machine(1);
  });
  const create = (startsAt: number, endsAt: number | null) =>
    server.admin.unitReservations.create({
      nodeId: here.nodeId,
      unitIds: [...here.units],
      allowedOrgIds: ["t-a"],
      startsAt: text(startsAt),
      ...(endsAt === null ? {} : { endsAt: text(endsAt) }),
    });
  const cancel = ({ id }: { id: string }) =>
    server.admin.unitReservations.cancel({ nodeId: here.nodeId, reservationId: id });

  it.each(Object.entries(terms))(
    "is granted only when the two do not meet: %s",
    async (_, [startsAt, endsAt, granted]) => {
      const base = await create(T, T + HOUR);
      const refused = granted ? null : await refusal(create(startsAt, endsAt));
      if (refused) {
        expect(refused).toMatchObject({ code: "CONFLICT" });
        expect(refused.message).toContain(here.units[0]);
        await cancel(base);
      }
      const made = await create(startsAt, endsAt);
      expect(made).toMatchObject({ status: "pending", startsAt: text(startsAt) });
      await cancel(made);
      await cancel(base);
      await expectConsistent(server, here.fleet);
    },
  );

  it("is refused whenever it begins when the other one has no end", async () => {
    const open = await create(T, null);
    for (const startsAt of [T, T + 1, T + 1_000 * DAY])
      expect(await outcome(create(startsAt, startsAt + HOUR))).toBe("CONFLICT");
    await cancel(open);
    await cancel(await create(T + 1_000 * DAY, null));
  });
});
