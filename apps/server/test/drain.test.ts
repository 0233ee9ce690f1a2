/** SIGTERM: what runs finishes, what is new is refused, and the process ends well. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "@berth/db";
import { type TestDatabase, faultProxy, testDatabase } from "@berth/db/testing";
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
  const answer = await running;
  expect(answer).toMatchObject({ status: 200, body: { state: "active" } });
  // No connection of a server that ends is kept: the next call on it would be lost.
  expect(answer.headers.get("connection")).toBe("close");
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

/** What an operator's tool waits before it kills. */
const PATIENCE_MS = 30_000;

it.each([
  ["is gone", { kind: "refuse" }],
  ["does not answer any more", { kind: "latency", ms: 600_000 }],
] as const)(
  "ends in half a minute when the database %s",
  async (_how, fault) => {
    const own = await testDatabase();
    const proxy = await faultProxy(own.url);
    const server = await spawnServer(proxy.url);
    const { poolId } = await server.actors.fleet(pool(1, 8));
    proxy.set(fault);
    if (fault.kind === "refuse") proxy.cutAll();
    const started = performance.now();
    // On its way when the signal comes: connections are being made, a write is being tried again.
    const running = server.actors
      .http("reservations.create", {
        tenantId: "t-own",
        poolId,
        devices: [{ class: "gpu", count: 1 }],
        duration: "1h",
        idempotencyKey: "database-away",
      })
      .then(
        ({ status }) => status,
        () => 503,
      );
    // Answered without the database, and asked for later: the booking is in by then.
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    const late = setTimeout(() => server.process.kill("SIGKILL"), PATIENCE_MS);
    expect(await server.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    clearTimeout(late);
    expect(performance.now() - started).toBeLessThan(PATIENCE_MS);
    expect(await running).toBe(503);
    await proxy.close();
    await own.close();
  },
  120_000,
);

it.each([
  ["is gone", (log: Readable) => void log.destroy()],
  ["reads no more", (log: Readable) => void log.pause()],
])("ends, and answers until then, when whoever read its log %s", async (_how, leave) => {
  const server = await spawnServer(database.url, { BERTH_RATE_LIMIT: "1000000" });
  const { stdout } = server.process;
  if (!stdout) throw new Error("the server has no standard output");
  leave(stdout);
  // A line a call with an id of 128 characters: more than what the system holds for a reader.
  for (let batch = 0; batch < 60; batch += 1) {
    const calls = Array<string>(50).fill("access.whoami").join(",");
    const answer = await fetch(`${server.url}/trpc/${calls}?batch=1&input={}`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}`, "x-request-id": "x".repeat(128) },
    });
    expect(answer.status).toBe(200);
    await answer.text();
  }
  const late = setTimeout(() => server.process.kill("SIGKILL"), PATIENCE_MS);
  // Not when its output is closed: nobody closes that.
  const ended = once(server.process, "exit");
  server.process.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  clearTimeout(late);
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
