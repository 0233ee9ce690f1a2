import { afterAll, beforeAll, expect, test } from "vitest";
import { createApi } from "./root.ts";
import { type TestApi, testApi } from "./testing/test-api.ts";
import { type World, bookingInput, makeWorld } from "./testing/world.ts";

/** Later than anything in these tests. */
const LATE = Date.UTC(2100, 0);

let it: TestApi;
let world: World;

beforeAll(async () => {
  it = await testApi();
  world = await makeWorld(it.invoke, it.admin);
});
afterAll(() => it.close());

test("denials are one row a principal, method and code, filed in the caller's tenant", async () => {
  const api = createApi(it.deps);
  const knock = (token: string | null, input: object) =>
    api
      .invoke({
        method: "pools.archive",
        rawInput: () => Promise.resolve(input),
        context: api.context({ token, requestId: "r" }),
      })
      .catch(() => null);
  const pool = { tenantId: world.tenantId, poolId: world.poolId };
  for (let i = 0; i < 20; i += 1) {
    await knock(world.tokens.viewer, pool);
    await knock(world.tokens.stranger, pool);
    await knock("wrong", pool);
  }
  await api.stop();
  const rows = await it.database.sql`
    select tenant_id, outcome, count from audit where method = 'pools.archive' order by outcome`;
  expect([...rows]).toEqual([
    { tenant_id: world.tenantId, outcome: "FORBIDDEN", count: 20 },
    { tenant_id: world.strangerTenantId, outcome: "NOT_FOUND", count: 20 },
  ]);
});

test("a call without a valid key leaves a log line and no row", async () => {
  const before = await it.database.sql`select count(*) as n from audit`;
  it.lines.length = 0;
  expect((await it.outcome("access.whoami", {}, "wrong")).code).toBe("UNAUTHENTICATED");
  expect(it.lines.map(({ message }) => message)).toEqual(["a call without a valid key"]);
  expect(await it.database.sql`select count(*) as n from audit`).toEqual(before);
});

test("calls that end together are all on file", async () => {
  const { nodeId } = world;
  const write = () =>
    it.invoke("fleet.setNodeState", { nodeId, state: "ready" }, world.tokens.admin);
  await Promise.all(Array.from({ length: 50 }, write));
  const [row] = await it.database.sql<{ n: number }[]>`
    select count(*)::int as n from audit where method = 'fleet.setNodeState'`;
  expect(row?.n).toBe(50);
});

test("a new key is filed under its own id", async () => {
  const input = { tenantId: world.tenantId, role: "tenant-viewer", name: "filed" };
  const { key } = (await it.invoke("access.createKey", input, world.tokens.admin)) as {
    key: { id: string };
  };
  const [row] = await it.database.sql<{ target: string }[]>`
    select target from audit where method = 'access.createKey' order by id desc limit 1`;
  expect(row?.target).toBe(key.id);
});

test("a booking is on file in the write that stores it, and so is what is done with it", async () => {
  const { tenantId, poolId, tokens } = world;
  const as = (method: Parameters<typeof it.invoke>[0], input: object) =>
    it.invoke(method, { tenantId, ...input }, tokens.operator) as Promise<{ id: string }>;
  const booking = bookingInput({ tenantId, poolId, idempotencyKey: "on-file" });
  const { id: reservationId } = await as("reservations.create", booking);
  const filed = () => it.database.sql<{ method: string; outcome: string; together: boolean }[]>`
    select a.method, a.outcome, a.xmin::text = r.xmin::text as together
    from audit a join reservations r on r.id = a.target where r.id = ${reservationId} order by a.id`;
  const created = { method: "reservations.create", outcome: "ok" };
  expect([...(await filed())]).toEqual([{ ...created, together: true }]);
  // What its key answers again is no second booking, and no second row.
  await as("reservations.create", booking);
  expect([...(await filed())]).toEqual([{ ...created, together: true }]);
  await as("reservations.release", { reservationId });
  const released = { method: "reservations.release", outcome: "ok" };
  expect([...(await filed())]).toEqual([
    { ...created, together: false },
    { ...released, together: true },
  ]);
  // There is nothing left to write, but the call was made.
  await as("reservations.release", { reservationId });
  const tooLate = as("reservations.extend", { reservationId, end: LATE });
  await expect(tooLate).rejects.toMatchObject({ code: "INVALID_STATE" });
  const rows = async () => (await filed()).map(({ method, outcome }) => `${method} ${outcome}`);
  // A refusal does not wait until it is on file.
  await expect
    .poll(rows)
    .toEqual([
      "reservations.create ok",
      "reservations.release ok",
      "reservations.release ok",
      "reservations.extend INVALID_STATE",
    ]);
});
