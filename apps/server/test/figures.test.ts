/** What operators watch of waits and preemption. */
import { isBerthError } from "@berth/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { METRICS_TOKEN, counter } from "./faults/together.ts";
import { type TestServer, pool, startServer } from "./harness.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ config: { metricsToken: METRICS_TOKEN } });
});
afterAll(() => server.stop());

const devices = [{ class: "gpu" as const, count: 1 }];
const metric = (name: string) => counter(server.url, name);

it("callers who wait are a gauge, and bookings that got notice a counter", async () => {
  const { owner: tenantId, poolId } = await server.fleet(pool(1, 1));
  const ask = { tenantId, poolId, devices, duration: "1h" };
  expect(await metric("berth_waiters ")).toBe(0);
  await server.admin.reservations.create({ ...ask, spot: true });
  const wait = { timeoutMs: 30_000 };
  const controller = new AbortController();
  const waits = server.admin.reservations
    .create({ ...ask, spot: true, wait }, { signal: controller.signal })
    .catch((error: unknown) => error);
  await expect.poll(() => metric("berth_waiters "), { timeout: 10_000 }).toBe(1);
  expect(await metric("berth_preemptions_total ")).toBe(0);
  await server.admin.reservations.create(ask);
  expect(await metric("berth_preemptions_total ")).toBe(1);
  controller.abort();
  expect(isBerthError(await waits)).toBe(false);
  await expect.poll(() => metric("berth_waiters "), { timeout: 10_000 }).toBe(0);
});
