/** Gangs are all or nothing: placed, refused, released and counted whole. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, node, pool, startServer } from "../harness.ts";
import {
  NOW,
  asker,
  bookGpus,
  gpuRequest,
  outcomes,
  range,
  refusal,
  release,
  unitsOf,
} from "./asking.ts";
import { expectConsistent, expectEmptyAfterRelease, usedBy } from "./invariants.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
});
afterAll(async () => {
  await server.expectHealthy();
  await server.stop();
});

describe("a gang that does not fit", () => {
  it("leaves nothing, and its key makes the reservation once there is room", async () => {
    const fleet = await server.fleet(pool(2, 8));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const inTheWay = await bookGpus(b, 1);
    const ask = { gang: { size: 2 }, idempotencyKey: "gang-1" };
    expect((await refusal(bookGpus(a, 8, ask))).code).toBe("NO_CAPACITY");
    expect((await a.berth.reservations.list({ tenantId: "t-a" })).reservations).toEqual([]);
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(0);
    await release(b, inTheWay);
    const mine = await bookGpus(a, 8, ask);
    expect(new Set(unitsOf(mine)).size).toBe(16);
    expect(mine.members).toHaveLength(2);
    expect((await bookGpus(a, 8, ask)).id).toBe(mine.id);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("is told how many of its members there is room for, by preview and create alike", async () => {
    const fleet = await server.fleet(pool(2, 8));
    const a = await asker(server, "t-a", fleet);
    await bookGpus(await asker(server, "t-b", fleet), 2);
    const ask = gpuRequest(a, 8, { gang: { size: 2 } });
    const preview = await a.berth.capacity.preview(ask);
    expect(preview).toMatchObject({
      fits: false,
      reason: {
        blocked: [
          { cause: "BUSY", nodes: 1 },
          { cause: "GANG", nodes: 1 },
        ],
      },
    });
    expect(preview.reason?.message).toMatch(/1 of 2/);
    const refused = await refusal(a.berth.reservations.create(ask));
    expect(refused.reason).toEqual(preview.reason);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("of 64 whole nodes in a pool of 63 is answered at once, and nobody waits behind it", async () => {
    const nodes = range(63).map((n) => node(`wide-${n}`, 8));
    const fleet = await server.fleet(pool(63, 8, { nodes }));
    const a = await asker(server, "t-a", fleet);
    const started = performance.now();
    const [preview, listed] = await Promise.all([
      a.berth.capacity
        .preview(gpuRequest(a, 8, { gang: { size: 64 } }))
        .then(({ fits }) => ({ fits, ms: performance.now() - started })),
      a.berth.pools.list({ tenantId: "t-a" }).then(() => performance.now() - started),
    ]);
    expect(preview.fits).toBe(false);
    expect(preview.ms).toBeLessThan(2_000);
    expect(listed).toBeLessThan(500);
  });
});

describe("a gang that was booked", () => {
  it("is given back once, however many release it at once", async () => {
    const fleet = await server.fleet(pool(2, 8));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const mine = await bookGpus(a, 3, { gang: { size: 2 } });
    await bookGpus(b, 2);
    const counts = await outcomes(range(20).map(() => release(a, mine)));
    expect(counts).toEqual({ OK: 20 });
    expect((await expectConsistent(server, fleet)).live).toHaveLength(1);
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(0);
    expect(new Set(unitsOf(await bookGpus(a, 6, { gang: { size: 2 } }))).size).toBe(12);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("stands on one rack when it asks for that, however the nodes are filled", async () => {
    const nodes = range(6).map((n) => node(`rack-${n}`, 8, { labels: { rack: `r${n % 3}` } }));
    const fleet: Fleet = await server.fleet(pool(6, 8, { nodes }));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const rackOf = new Map(nodes.map(({ name, labels }) => [name, labels?.["rack"]]));
    for (const filler of range(2)) {
      const mine = await bookGpus(a, 8, { gang: { size: 2, topologyKey: "rack" } });
      const racks = new Set((mine.members ?? []).map((m) => rackOf.get(m.nodeName)));
      expect(racks.size, `round ${filler}`).toBe(1);
    }
    await bookGpus(b, 1);
    expect((await refusal(bookGpus(a, 8, { gang: { size: 2, topologyKey: "rack" } }))).code).toBe(
      "NO_CAPACITY",
    );
    await expectEmptyAfterRelease(server, fleet);
  });
});
