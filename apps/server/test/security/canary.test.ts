/** The recorder in the harness is not blind: what is leaked on purpose, it finds. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canary, createCanaries } from "../canary/canaries.ts";
import { METRICS, METRICS_TOKEN } from "../faults/together.ts";
import {
  type Actors,
  type TestServer,
  canaries,
  pool,
  spawnServer,
  startServer,
} from "../harness.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ config: { metricsToken: METRICS_TOKEN } });
  await server.fleet(pool(1, 8, { owner: "t-b", offers: { "t-b": { gpu: 8 } } }));
  await server.token("t-a");
});
afterAll(() => server.stop());

/** A key that the recorder takes for one of t-a's: each answer to it that tells of t-b is then a leak. */
async function mistakenKey(role: "tenant-admin" | "tenant-operator"): Promise<string> {
  const token = await server.token("t-b", role);
  canaries.knows(token, { tenantId: "t-a", role });
  return token;
}

async function expectLeaks(leak: () => Promise<unknown>, of: string): Promise<void> {
  expect(canaries.leaks).toEqual([]);
  await leak();
  expect(canaries.leaks).not.toEqual([]);
  expect(() => canaries.expectNone()).toThrow(of);
  canaries.take();
}

describe("a tenant that is told of another fails its suite", () => {
  it("in an answer over HTTP and over tRPC, by the client or not", async () => {
    const token = await mistakenKey("tenant-admin");
    const input = { tenantId: "t-b" };
    await expectLeaks(() => server.http("fleet.listSites", input, { token }), canary("t-b"));
    const { admin } = server;
    await expectLeaks(async () => {
      const { key } = await admin.access.createKey({ ...input, role: "tenant-viewer", name: "k" });
      await server.http("access.listKeys", input, { token });
      return key;
    }, canary("t-b"));
    const berth = await server.as("t-b", "tenant-admin");
    await expectLeaks(() => berth.fleet.listSites(input), canary("t-b"));
  });

  it("by the id of a reservation that is not its own", async () => {
    const berth = await server.as("t-b", "tenant-operator");
    const { pools } = await berth.pools.list({ tenantId: "t-b" });
    const { id } = await berth.reservations.create({
      tenantId: "t-b",
      poolId: String(pools[0]?.id),
      devices: [{ class: "gpu", count: 1 }],
      duration: "1h",
    });
    canaries.take();
    await mistakenKey("tenant-operator");
    await expectLeaks(() => berth.reservations.list({ tenantId: "t-b" }), id);
  });

  it("in a frame of a stream", async () => {
    const token = await mistakenKey("tenant-admin");
    await expectLeaks(async () => {
      const response = await fetch(`${server.url}/api/compute/events/stream?tenantId=t-b`, {
        headers: { authorization: `Bearer ${token}` },
      });
      await server.admin.fleet.putSite({ tenantId: "t-b", name: canary("t-b"), region: "r" });
      for await (const chunk of response.body ?? [])
        if (Buffer.from(chunk).includes("CANARY-")) break;
    }, canary("t-b"));
  });

  it("in a metric, whoever reads it", async () => {
    const planted = createCanaries();
    const text = await fetch(`${server.url}/metrics`, {
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
    }).then((response) => response.text());
    planted.inspect({ to: null, text, where: "GET /metrics" });
    expect(planted.leaks).toEqual([]);
    planted.inspect({
      to: null,
      text: `${text}\nx{tenant="${canary("t-b")}"} 1`,
      where: "metrics",
    });
    expect(() => planted.expectNone()).toThrow(canary("t-b"));
  });

  it("in a log line that is not its own", async () => {
    const planted = createCanaries();
    const line = (fields: object) => planted.inspectLine(JSON.stringify(fields));
    line({ tenantId: "t-b", principal: canary("t-b") });
    planted.expectNone();
    line({ tenantId: "t-a", site: canary("t-b") });
    line({ level: 50, cause: `duplicate key (${canary("t-b")})` });
    expect(planted.leaks).toHaveLength(2);

    await expectLineFound(server);
  });

  it("in a log line of a server in another process", async () => {
    const other = await spawnServer(server.database.url, METRICS);
    await expectLineFound(other.actors);
    other.process.kill("SIGKILL");
    await other.ended;
  });

  /** A key's name is in the lines of its calls: here it is another tenant's mark. */
  async function expectLineFound(actors: Actors): Promise<void> {
    const { secret: token } = await server.admin.access.createKey({
      tenantId: "t-a",
      role: "tenant-viewer",
      name: canary("t-b"),
    });
    await expectLeaks(async () => {
      await actors.http("access.whoami", {}, { token });
      const found = () => canaries.leaks.some((leak) => leak.startsWith("a log line"));
      await expect.poll(found, { timeout: 10_000 }).toBe(true);
    }, "a log line");
  }
});

describe("no alarm", () => {
  it("for one's own, for what one asked with, for a descendant's, and for the operator of the fleet", () => {
    const known = createCanaries();
    known.learn('{"tenantId":"t-b.child","parentId":"t-b"}');
    known.learn('{"id":"rsv_00000000000000000000000001","tenantId":"t-b.child"}');
    const text = `${canary("t-b.child")} rsv_00000000000000000000000001`;
    for (const to of [
      { tenantId: "t-b.child", role: "tenant-viewer" },
      { tenantId: "t-b", role: "tenant-viewer" },
      { tenantId: "platform", role: "fleet-admin" },
    ])
      known.inspect({ to, text, where: "a list" });
    const to = { tenantId: "t-a", role: "tenant-viewer" };
    known.inspect({ to, text, where: "an error", asked: () => text });
    known.expectNone();
    known.inspect({ to, text, where: "a list" });
    expect(known.leaks).toHaveLength(2);
    const cursor = Buffer.from(`sites ${canary("t-b")}`).toString("base64url");
    known.inspect({ to, text: `{"nextCursor":"${cursor}"}`, where: "a list" });
    expect(known.take()).toHaveLength(3);
  });
});
