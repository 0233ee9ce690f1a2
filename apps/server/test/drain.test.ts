/** SIGTERM: what runs finishes, what is new is refused, and the process ends well. */
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "@berth/db";
import { type TestDatabase, testDatabase } from "@berth/db/testing";
import { ADMIN_KEY, pool, spawnServer } from "./harness.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

it("finishes the calls that run, refuses new ones with 503, and exits 0", async () => {
  const server = await spawnServer(database.url);
  const fleet = await server.actors.fleet(pool(1, 8));
  // The gate is held, so that the booking cannot finish before we let it.
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
  const holder = openDatabase(database.url, { connections: 1, writers: 1 });
  const lock = holder.slots.tx(async ({ q }) => {
    await q("select from gates where id = $1 for no key update", [fleet.poolId]);
    onLocked();
    await held;
  });
  await locked;
  const running = server.actors.http("reservations.create", {
    tenantId: "t-own",
    poolId: fleet.poolId,
    devices: [{ class: "gpu", count: 1 }],
    duration: "1h",
    idempotencyKey: "while-stopping",
  });
  await waiting(database);
  const ended = server.kill("SIGTERM");
  const refused = await untilRefused(server.url);
  expect(refused).toMatchObject({ status: 503, body: { code: "UNAVAILABLE", retryable: true } });
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  release();
  await lock;
  await holder.close();
  expect(await running).toMatchObject({ status: 200, body: { state: "active" } });
  expect(await ended).toEqual({ code: 0, signal: null });
});

it("ends at once when nothing runs, and its log holds no key", async () => {
  const server = await spawnServer(database.url);
  await server.actors.http("access.whoami", {});
  const idle = connect(Number(new URL(server.url).port), "127.0.0.1");
  idle.on("error", () => undefined);
  const started = performance.now();
  expect(await server.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  expect(performance.now() - started).toBeLessThan(10_000);
  idle.destroy();
  const lines = server
    .stdout()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(lines).toContainEqual(
    expect.objectContaining({ msg: "call", method: "access.whoami", code: "OK", status: 200 }),
  );
  expect(server.stdout() + server.stderr()).not.toContain(ADMIN_KEY);
});

/** Resolves when some session waits for a lock. */
async function waiting({ sql }: TestDatabase): Promise<void> {
  for (;;) {
    const rows = await sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    if (rows.length > 0) return;
  }
}

async function untilRefused(url: string) {
  for (;;) {
    const response = await fetch(`${url}/api/compute/access/whoami`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
      body: "{}",
    });
    if (response.status === 503) return { status: 503, body: (await response.json()) as object };
  }
}
