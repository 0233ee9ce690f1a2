import { afterAll, beforeAll, expect, test } from "vitest";
import { BookingApi } from "../test-kit.ts";

let api: BookingApi;

beforeAll(async () => {
  api = await BookingApi.open();
});
afterAll(() => api.close());

const nodeOf = async (poolId: string): Promise<string> => {
  const { nodes } = await api.call("fleet.listNodes", { tenantId: "t-own", poolId });
  return nodes[0]?.id ?? "";
};

test("a booking that is over at this very instant does not keep its node from moving", async () => {
  const from = await api.pool(1, 2);
  const to = await api.pool(0, 0);
  const nodeId = await nodeOf(from);
  const booked = await api.book(from, 2);
  expect((await api.error("fleet.assignNode", { nodeId, poolId: to })).code).toBe("INVALID_STATE");
  await api.clock.set(booked.end);
  const moved = await api.call("fleet.assignNode", { nodeId, poolId: to });
  expect(moved.poolId).toBe(to);
  const ended = { tenantId: booked.tenantId, reservationId: booked.id };
  expect(await api.call("reservations.get", ended)).toMatchObject({
    state: "completed",
    endedAt: booked.end,
  });
});

test("a node joins a pool of its owner's only, not one that its owner is merely offered", async () => {
  const nodeId = await nodeOf(await api.pool(1, 2));
  const site = await api.call("fleet.putSite", { tenantId: "t-b", name: "theirs", region: "eu-1" });
  const theirs = await api.call("pools.create", {
    tenantId: "t-b",
    siteId: site.id,
    class: "metal-host",
  });
  const offer = { tenantId: "t-b", poolId: theirs.id, toTenantId: "t-own", quota: { gpu: 8 } };
  await api.call("pools.offer", offer);
  expect((await api.seen(theirs.id, "t-own")).owned).toBe(false);
  const refused = await api.error("fleet.assignNode", { nodeId, poolId: theirs.id });
  expect(refused.code).toBe("NOT_FOUND");
});
