/** What is asked with every call is planned by a connection once, and not at every call. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestApi, testApi } from "./testing/test-api.ts";
import { type World, bookingInput, makeWorld } from "./testing/world.ts";

let it: TestApi;
let world: World;

// With one connection that reads: it alone has the plans, and can be asked for them.
beforeAll(async () => {
  it = await testApi({ connections: 1 });
  world = await makeWorld(it.invoke, it.admin);
});
afterAll(() => it.close());

const CALLS = 30;
/** PostgreSQL plans a statement by its values this often before it compares with a plan for all values. */
const BY_VALUES = 5;

test.each([
  "capacity.byPool",
  "capacity.summary",
  "pools.get",
  "pools.list",
  "capacity.preview",
] as const)("%s", async (method) => {
  const { tenantId, poolId, tokens } = world;
  const ask = { tenantId, poolId };
  const whole = method === "capacity.summary" || method === "pools.list";
  const booking = bookingInput({ ...ask, idempotencyKey: "looked-at" });
  const input = method === "capacity.preview" ? booking : whole ? { tenantId } : ask;
  const { sql } = it.deps.db;
  const planned = () => sql<{ statement: string; customPlans: number; genericPlans: number }[]>`
      select statement, custom_plans::int as "customPlans", generic_plans::int as "genericPlans"
      from pg_prepared_statements where from_sql = false`;
  const before = new Map((await planned()).map((row) => [row.statement, row]));
  for (let call = 0; call < CALLS; call += 1) await it.invoke(method, input, tokens.operator);
  const grown = (await planned()).map(({ statement, customPlans, genericPlans }) => ({
    statement,
    byValues: customPlans - (before.get(statement)?.customPlans ?? 0),
    forAll: genericPlans - (before.get(statement)?.genericPlans ?? 0),
  }));
  const asked = grown.filter(({ byValues, forAll }) => byValues + forAll >= CALLS);
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.filter(({ byValues }) => byValues > BY_VALUES)).toEqual([]);
});
