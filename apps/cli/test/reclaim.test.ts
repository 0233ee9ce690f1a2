/** Taking GPUs back from the spot market: exactly what was shown, or nothing. */
import { type Reservation, type UnitReservation, createBerth } from "@berth/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type World, atTerminal, inProcess, nodes, startWorld } from "./kit.ts";

let world: World;
let fence: UnitReservation;
let spot: Reservation[];
let operator: Record<string, string>;

beforeAll(async () => {
  world = await startWorld(nodes("H100", 1));
  const { url, token } = { url: world.url, token: world.adminToken };
  operator = world.env({ BERTH_URL: url, BERTH_TOKEN: token });
});
afterAll(() => world.stop());

beforeEach(async () => {
  const { admin } = world;
  const [node] = await admin.fleet.listNodes({ tenantId: "lab" }).toArray({ limit: 1 });
  const gpus = (node?.units ?? []).filter((unit) => unit.class === "gpu").slice(0, 4);
  const of = { nodeId: node?.id ?? "" };
  fence = await admin.unitReservations.create({
    ...of,
    unitIds: gpus.map(({ id }) => id),
    allowedOrgIds: ["speech"],
    startsAt: new Date().toISOString(),
  });
  await admin.unitReservations.release({ ...of, reservationId: fence.id });
  spot = [];
  for (const unit of gpus.slice(0, 3)) spot.push(await take([unit.id]));
});
afterEach(async () => {
  await world.admin.unitReservations.cancel({ nodeId: fence.nodeId, reservationId: fence.id });
  const vision = createBerth({ url: world.url, token: world.token() });
  for (const { id } of spot)
    await vision.reservations.release({ tenantId: "vision", reservationId: id });
});

async function take(unitIds: string[]): Promise<Reservation> {
  return createBerth({ url: world.url, token: world.token() }).reservations.create({
    tenantId: "vision",
    poolId: world.pool("H100"),
    devices: [{ class: "gpu", count: unitIds.length, selector: { unitIds } }],
    duration: "1h",
    spot: true,
  });
}

async function states(): Promise<string[]> {
  const vision = createBerth({ url: world.url, token: world.token() });
  const all = spot.map(({ id: reservationId }) =>
    vision.reservations.get({ tenantId: "vision", reservationId }),
  );
  return (await Promise.all(all)).map(({ state }) => state);
}

describe("berth reclaim", () => {
  it("at a terminal shows who would end, and ends them once their number is typed", async () => {
    const terminal = atTerminal(["reclaim", fence.id, "-o", "json"], operator);
    await terminal.type("Type 3 to go on", "3\r");
    const { code, out, err } = await terminal.ended;
    expect(code, err).toBe(0);
    for (const { id } of spot) expect(err).toContain(id);
    const { terminated = [] } = JSON.parse(out) as UnitReservation;
    expect(terminated.toSorted()).toEqual(spot.map(({ id }) => id).toSorted());
    expect(await states()).not.toContain("active");
  });

  it("ends nobody when another number is typed", async () => {
    const terminal = atTerminal(["reclaim", fence.id], operator);
    await terminal.type("Type 3 to go on", "4\r");
    const { code, out, err } = await terminal.ended;
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("nothing was done");
    expect(await states()).toEqual(["active", "active", "active"]);
  });

  it("in a script goes on when as many would end as expected, and else does nothing, status 3", async () => {
    const wrong = await inProcess(["reclaim", fence.id, "--expect", "2", "-o", "json"], operator);
    expect(wrong).toMatchObject({ code: 3, out: "" });
    expect(wrong.err).toContain("3 would end, not the 2 of --expect: nothing was done");
    expect(await states()).toEqual(["active", "active", "active"]);
    const right = await inProcess(["reclaim", fence.id, "--expect", "3", "-o", "json"], operator);
    expect(right.code, right.err).toBe(0);
    expect(await states()).not.toContain("active");
  });

  it("ends nobody when the set changed between what was shown and the answer, status 3", async () => {
    const terminal = atTerminal(["reclaim", fence.id], operator);
    await terminal.type("Type 3 to go on", "");
    const vision = createBerth({ url: world.url, token: world.token() });
    await vision.reservations.release({ tenantId: "vision", reservationId: spot[0]?.id ?? "" });
    await terminal.type("Type 3 to go on", "3\r");
    const { code, out, err } = await terminal.ended;
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toContain("has changed since it was shown: nothing was done");
    expect(err).toContain("now 2 would end");
    expect(await states()).toEqual(["released", "active", "active"]);
  });

  it("with --dry-run only shows it, as the API answers it", async () => {
    const { code, out } = await inProcess(
      ["reclaim", fence.id, "--dry-run", "-o", "json"],
      operator,
    );
    expect(code).toBe(0);
    expect((JSON.parse(out) as UnitReservation).wouldTerminate).toHaveLength(3);
    expect(await states()).toEqual(["active", "active", "active"]);
  });

  it("without a terminal names the flag, and to who may not see it there is nothing", async () => {
    const silent = await inProcess(["reclaim", fence.id], operator);
    expect(silent).toMatchObject({ code: 2, out: "" });
    expect(silent.err).toContain("--expect N");
    const stranger = await inProcess(["reclaim", fence.id, "--expect", "3"], world.env());
    expect(stranger).toMatchObject({ code: 4, out: "" });
  });
});
