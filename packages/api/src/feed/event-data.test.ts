/** What today's writers put into events is what the contract says of their type, field by field. */
import { eventData } from "@berth/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { BookingApi, HOUR, MINUTE } from "../groups/test-kit.ts";

let api: BookingApi;
beforeAll(async () => {
  api = await BookingApi.open();
});
afterAll(() => api.close());

test("every kind of event that a pool's life brings about has the data of its type", async () => {
  const poolId = await api.pool(2, 2);
  const owner = { tenantId: "t-own" };
  const kept = await api.book(poolId, 1, { leaseSeconds: 60 });
  await api.call("reservations.renew", { tenantId: "t-a", reservationId: kept.id });
  const end = kept.end + HOUR;
  await api.call("reservations.extend", { tenantId: "t-a", reservationId: kept.id, end });
  await api.release(await api.book(poolId, 1));
  await api.book(poolId, 1, { start: kept.start + 30 * MINUTE });
  const [node] = (await api.call("fleet.listNodes", owner)).nodes;
  const nodeId = node?.id;
  await api.call("fleet.setUnitHealth", { unitId: node?.units[0]?.id, healthy: false });
  const window = { nodeId, from: end + HOUR, to: end + 2 * HOUR };
  const { id: maintenanceId } = await api.call("fleet.scheduleMaintenance", window);
  await api.call("fleet.cancelMaintenance", { maintenanceId });
  await api.call("fleet.setNodeState", { nodeId, state: "maintenance" });
  await api.call("pools.update", { ...owner, poolId, policy: { label: "l" }, gpuModel: "H200" });
  await api.call("pools.unoffer", { ...owner, poolId, toTenantId: "t-c" });
  const made = await api.call("access.createKey", { ...owner, role: "tenant-viewer", name: "k" });
  await api.call("access.revokeKey", { keyId: made.key.id });
  await api.clock.advance(3 * HOUR);
  await api.call("reservations.get", { tenantId: "t-a", reservationId: kept.id });
  await api.call("pools.archive", { ...owner, poolId });

  const rows = await api.test.database.sql<{ type: keyof typeof eventData; data: unknown }[]>`
    select distinct on (type, tenant_id) type, data from events`;
  const wrong = rows.flatMap(({ type, data }) => {
    const parsed = z.strictObject(eventData[type].shape).safeParse(data);
    return parsed.success ? [] : [`${type}: ${z.prettifyError(parsed.error)}`];
  });
  expect(wrong).toEqual([]);
  expect(new Set(rows.map(({ type }) => type)).size).toBeGreaterThan(18);
});
