/** Every answer about one pool says where it stands in that pool's order. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_KEY, type Fleet, type TestServer, pool, startServer } from "./harness.ts";

let server: TestServer;
let fleet: Fleet;
/** What the calls name. */
let named: Record<string, string>;
beforeAll(async () => {
  server = await startServer();
  const shape = pool(1, 4);
  const nodes = shape.nodes.map((node) => ({
    ...node,
    gpus: node.gpus?.map((gpu) => ({ ...gpu, vfioGroup: String(gpu.index) })),
  }));
  fleet = await server.fleet({ ...shape, nodes });
  const { owner: tenantId, poolId } = fleet;
  const nodeId = String(fleet.nodeIds[0]);
  const { units } = await server.admin.fleet.getNode({ tenantId, nodeId });
  const devices = [{ class: "gpu" as const, count: 1 }];
  const ask = { tenantId, poolId, devices, duration: "1h" };
  const booked = await server.admin.reservations.create(ask);
  const over = await server.admin.reservations.create(ask);
  await server.admin.reservations.release({ tenantId, reservationId: over.id });
  const taken = new Set(
    (booked.members ?? []).flatMap(({ atoms }) => atoms.map(({ unitId }) => unitId)),
  );
  const unitIds = units.map(({ id }) => id).filter((id) => !taken.has(id));
  const term = { nodeId, allowedOrgIds: ["t-a"] };
  const [live, past] = [
    await server.admin.unitReservations.create({ ...term, unitIds: unitIds.slice(0, 1) }),
    await server.admin.unitReservations.create({ ...term, unitIds: unitIds.slice(1, 2) }),
  ];
  await server.admin.unitReservations.cancel({ nodeId, reservationId: past.id });
  named = { booked: booked.id, over: over.id, live: live.id, past: past.id, nodeId };
});
afterAll(() => server.stop());

async function present(): Promise<number> {
  const [gate] = await server.database.sql<{ seq: number }[]>`
    select seq from gates where id = ${fleet.poolId}`;
  return Number(gate?.seq);
}

const WISH = { devices: [{ class: "gpu", count: 1 }], duration: "1h", idempotencyKey: "o-1" };

it.each([
  ["capacity.byPool", () => ({})],
  ["capacity.preview", () => WISH],
  ["capacity.timeline", () => ({})],
  ["pools.get", () => ({})],
  ["pools.capacity", () => ({})],
  ["reservations.quote", () => WISH],
  ["reservations.list", () => ({})],
  ["fleet.listNodes", () => ({})],
] as const)("%s of a pool", async (method, input) => {
  const asked = { tenantId: fleet.owner, poolId: fleet.poolId, ...input() };
  const { status, headers } = await server.http(method, asked);
  expect([status, headers.get("x-berth-seq")]).toEqual([200, String(await present())]);
});

it.each([
  ["reservations.get", "booked"],
  ["reservations.release", "over"],
] as const)("%s of a reservation in it (%s)", async (method, which) => {
  const asked = { tenantId: fleet.owner, reservationId: named[which] };
  const { status, headers } = await server.http(method, asked);
  expect([status, headers.get("x-berth-seq")]).toEqual([200, String(await present())]);
});

it("fleet.getNode of a node in it", async () => {
  const asked = { tenantId: fleet.owner, nodeId: named["nodeId"] };
  const { status, headers } = await server.http("fleet.getNode", asked);
  expect([status, headers.get("x-berth-seq")]).toEqual([200, String(await present())]);
});

it.each([
  ["GET", "", "live"],
  ["GET", "", "past"],
  ["GET", null, "live"],
  ["POST", "/cancel", "past"],
  ["POST", "/release", "live"],
  ["POST", "/reclaim", "live"],
  ["POST", "/reaffirm", "live"],
])("%s …/reservations%s of a unit reservation on such a node (%s)", async (method, call, which) => {
  const one = call === null ? "" : `/${named[which]}${call}`;
  const url = `${server.url}/v1/nodes/${named["nodeId"]}/reservations${one}`;
  const response = await fetch(url, { method, headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  const seq = response.headers.get("x-berth-seq");
  expect([response.status, seq]).toEqual([200, String(await present())]);
});

it("says nothing of an order where several pools are asked about, or none", async () => {
  for (const [method, input] of [
    ["capacity.summary", { tenantId: fleet.owner }],
    ["reservations.list", { tenantId: fleet.owner }],
    ["fleet.listNodes", { tenantId: fleet.owner }],
    ["unitReservations.list", {}],
    ["access.whoami", {}],
  ] as const) {
    const { status, headers } = await server.http(method, input);
    expect([method, status, headers.get("x-berth-seq")]).toEqual([method, 200, null]);
  }
});
