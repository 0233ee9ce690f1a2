/** What was taken away is refused by every server within 5 s of the taking, and streams that rested on it end. */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";

/** What is promised. */
const WITHIN_MS = 5_000;
let servers: readonly [TestServer, TestServer];
let fleet: Fleet;
beforeAll(async () => {
  const first = await startServer();
  servers = [first, await startServer({ database: first.database })];
  fleet = await first.fleet(pool(1, 8));
});
afterAll(async () => {
  const [first, second] = servers;
  await second.stop();
  await first.stop();
});

interface Watched {
  /** When it ended, and with what last frame. */
  readonly ended: Promise<{ at: number; last: string }>;
  leave(): void;
}

/** A stream that is open: it has said so. */
async function watch(url: string, tenantId: string, token: string): Promise<Watched> {
  const controller = new AbortController();
  const response = await fetch(`${url}/api/compute/events/stream?tenantId=${tenantId}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: controller.signal,
  });
  expect(response.status).toBe(200);
  const begun = Promise.withResolvers<void>();
  const read = async (): Promise<{ at: number; last: string }> => {
    let last = "";
    try {
      for await (const chunk of response.body ?? []) {
        last = Buffer.from(chunk).toString();
        if (last.includes("id: ")) begun.resolve();
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
    return { at: performance.now(), last };
  };
  const ended = read();
  await begun.promise;
  return { ended, leave: () => controller.abort() };
}

/** Milliseconds from the event until each server says the code, and from then on. */
async function refusedAfter(
  event: number,
  ask: (server: TestServer) => Promise<{ body: Readonly<Record<string, unknown>> }>,
  code: string,
): Promise<number[]> {
  return Promise.all(
    servers.map(async (server) => {
      for (;;) {
        const { body } = await ask(server);
        const at = performance.now();
        if (body["code"] === code) return at - event;
        if (at - event > 3 * WITHIN_MS)
          throw new Error(`still not ${code}: ${JSON.stringify(body)}`);
        await delay(50);
      }
    }),
  );
}

const makeKey = async (
  tenantId: string,
  role: "tenant-viewer" | "tenant-operator" | "tenant-admin",
  more: object = {},
) => servers[0].admin.access.createKey({ tenantId, role, name: `of ${tenantId}`, ...more });

/** Both servers know the key by now, and both hold a stream of its. */
async function inUse(tenantId: string, token: string): Promise<Watched[]> {
  for (const server of servers)
    expect((await server.http("access.whoami", {}, { token })).status).toBe(200);
  return Promise.all(servers.map(({ url }) => watch(url, tenantId, token)));
}

async function expectEnded(streams: readonly Watched[], event: number, code: string) {
  for (const { ended } of streams) {
    const { at, last } = await ended;
    expect(at - event).toBeLessThanOrEqual(WITHIN_MS);
    expect(last).toContain(`"code":"${code}"`);
  }
}

describe("refused by both servers within 5 s", () => {
  it("a key that was revoked, its streams ended", async () => {
    const { key, secret: token } = await makeKey("t-own", "tenant-viewer");
    const streams = await inUse("t-own", token);
    await servers[0].admin.access.revokeKey({ keyId: key.id });
    const event = performance.now();
    const list = (server: TestServer) =>
      server.http("pools.list", { tenantId: "t-own" }, { token });
    for (const took of await refusedAfter(event, list, "UNAUTHENTICATED"))
      expect(took).toBeLessThanOrEqual(WITHIN_MS);
    await expectEnded(streams, event, "UNAUTHENTICATED");
  });

  it("a key that was revoked, what it waited for not booked", async () => {
    const { key, secret: token } = await makeKey("t-own", "tenant-operator");
    const { poolId } = await servers[0].fleet(pool(1, 1, { owner: "t-own" }));
    const ask = {
      tenantId: "t-own",
      poolId,
      devices: [{ class: "gpu", count: 1 }],
      duration: "1h",
    };
    const book = (server: TestServer, more: object) =>
      server.http("reservations.create", { ...ask, ...more }, { token });
    const taken = await book(servers[0], { idempotencyKey: "taken" });
    expect(taken.status).toBe(200);
    const waiting = servers.map(async (server, n) => {
      const wait = { wait: { timeoutMs: 30_000 }, idempotencyKey: `waits-${n}` };
      const { body } = await book(server, wait);
      return { code: body["code"], at: performance.now() };
    });
    const { sql } = servers[0].database;
    const waiters = async () =>
      (await sql`select 1 from waiters where pool_id = ${poolId} and done_at is null`).length;
    await expect.poll(waiters, { timeout: 10_000 }).toBe(2);
    await servers[0].admin.access.revokeKey({ keyId: key.id });
    const event = performance.now();
    for (const { code, at } of await Promise.all(waiting)) {
      expect(code).toBe("UNAUTHENTICATED");
      expect(at - event).toBeLessThanOrEqual(WITHIN_MS);
    }
    // Room comes, and nobody is there any more to take it.
    const { admin } = servers[0];
    await admin.reservations.release({
      tenantId: "t-own",
      reservationId: String(taken.body["id"]),
    });
    const { reservations } = await admin.reservations.list({ tenantId: "t-own", poolId });
    expect(reservations.map(({ state }) => state)).toEqual(["released"]);
  });

  it("a key whose time is over, its streams ended", async () => {
    const event = performance.now() + 3_000;
    const more = { expiresAt: Date.now() + 3_000 };
    const { secret: token } = await makeKey("t-own", "tenant-viewer", more);
    const streams = await inUse("t-own", token);
    const list = (server: TestServer) =>
      server.http("pools.list", { tenantId: "t-own" }, { token });
    for (const took of await refusedAfter(event, list, "UNAUTHENTICATED"))
      expect(took).toBeLessThanOrEqual(WITHIN_MS);
    await expectEnded(streams, event, "UNAUTHENTICATED");
  });

  it("a role that went with a tenant's place in the tree, the streams that rested on it ended", async () => {
    const [{ admin }] = servers;
    for (const tenantId of ["t-old", "t-new"]) await servers[0].token(tenantId, "tenant-admin");
    await admin.fleet.putTenant({ tenantId: "t-moves", parentId: "t-old" });
    const { secret: token } = await makeKey("t-old", "tenant-admin");
    const streams = await inUse("t-moves", token);
    const own = await inUse("t-old", token);
    await admin.fleet.putTenant({ tenantId: "t-moves", parentId: "t-new" });
    const event = performance.now();
    const list = (server: TestServer) =>
      server.http("pools.list", { tenantId: "t-moves" }, { token });
    for (const took of await refusedAfter(event, list, "NOT_FOUND"))
      expect(took).toBeLessThanOrEqual(WITHIN_MS);
    await expectEnded(streams, event, "NOT_FOUND");
    // What the key still may goes on.
    for (const each of own) each.leave();
    for (const server of servers)
      expect((await server.http("pools.list", { tenantId: "t-old" }, { token })).status).toBe(200);
  });

  it("a pool that is not offered any more, and nothing that happens in it is told from then on", async () => {
    const [{ admin, database }] = servers;
    const { owner: tenantId, poolId } = fleet;
    const token = await servers[0].token("t-a", "tenant-admin");
    const streams = await inUse("t-a", token);
    const get = (server: TestServer) =>
      server.http("pools.get", { tenantId: "t-a", poolId }, { token });
    for (const server of servers) expect((await get(server)).status).toBe(200);
    await admin.pools.unoffer({ tenantId, poolId, toTenantId: "t-a" });
    const event = performance.now();
    for (const took of await refusedAfter(event, get, "NOT_FOUND"))
      expect(took).toBeLessThanOrEqual(WITHIN_MS);
    for (const server of servers) {
      const booking = { tenantId: "t-a", poolId, duration: "1h", idempotencyKey: "after" };
      const wish = { ...booking, devices: [{ class: "gpu", count: 1 }] };
      for (const method of ["capacity.preview", "reservations.create", "capacity.byPool"]) {
        const input = method === "capacity.byPool" ? { tenantId: "t-a", poolId } : wish;
        expect((await server.http(method, input, { token })).body["code"]).toBe("NOT_FOUND");
      }
    }
    const { cursor } =
      (await admin.events.list({ tenantId: "t-a", limit: 200 })).events.at(-1) ?? {};
    await admin.pools.update({ tenantId, poolId, policy: { label: "for others" } });
    await database.feedCaughtUp();
    const after = await admin.events.list({
      tenantId: "t-a",
      ...(cursor ? { after: cursor } : {}),
    });
    expect(after.events.map(({ type }) => type)).not.toContain("pool.updated");
    for (const each of streams) each.leave();
    for (const { ended } of streams) expect((await ended).last).not.toContain("for others");
  });
});
