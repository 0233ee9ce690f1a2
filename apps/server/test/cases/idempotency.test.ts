/** One key is one reservation, however often and however it is sent; a call that failed burns none. */
import { type Berth, type BookingRequest, type CreatePoolInput, createBerth } from "@berth/client";
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";
import {
  type Asker,
  HOUR,
  NOW,
  asker,
  bookGpus,
  gpuRequest,
  outcome,
  range,
  refusal,
  release,
} from "./asking.ts";
import {
  expectConsistent,
  expectEmptyAfterRelease,
  liveReservations,
  usedBy,
} from "./invariants.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
});
afterAll(() => server.stop());

async function listed({ berth, tenantId, poolId }: Asker): Promise<string[]> {
  const { reservations } = await berth.reservations.list({ tenantId, poolId });
  return reservations.map(({ id }) => id);
}

describe("a create that failed", () => {
  const key = { idempotencyKey: "k1" };

  it("for want of room leaves nothing, and its key makes the reservation once there is room", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const theirs = await bookGpus(b, 1);
    expect((await refusal(bookGpus(a, 1, { idempotencyKey: "room" }))).code).toBe("NO_CAPACITY");
    expect(await listed(a)).toEqual([]);
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(0);
    await expectConsistent(server, fleet);
    await release(b, theirs);
    const mine = await bookGpus(a, 1, { idempotencyKey: "room" });
    expect(await listed(a)).toEqual([mine.id]);
    expect((await bookGpus(a, 1, { idempotencyKey: "room" })).id).toBe(mine.id);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("for want of quota leaves nothing, and its key works once the quota is raised", async () => {
    const fleet = await server.fleet(pool(1, 4, { offers: { "t-a": { gpu: 1 } } }));
    const a = await asker(server, "t-a", fleet);
    const ask = () => bookGpus(a, 2, { idempotencyKey: "quota" });
    expect((await refusal(ask())).code).toBe("QUOTA_EXCEEDED");
    expect(await listed(a)).toEqual([]);
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(0);
    const { owner, poolId } = fleet;
    const raise = { tenantId: owner, poolId, toTenantId: "t-a", quota: { gpu: 2 } };
    await server.admin.pools.offer(raise);
    const mine = await ask();
    expect(await listed(a)).toEqual([mine.id]);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("because the pool was not offered leaves nothing, and its key works once it is", async () => {
    const fleet = await server.fleet(pool(1, 4, { offers: {} }));
    const a = await asker(server, "t-a", fleet);
    const ask = () => bookGpus(a, 2, { idempotencyKey: "offer" });
    expect((await refusal(ask())).code).toBe("NOT_FOUND");
    const { owner, poolId } = fleet;
    const offer = { tenantId: owner, poolId, toTenantId: "t-a", quota: { gpu: 2 } };
    await server.admin.pools.offer(offer);
    const mine = await ask();
    expect(await listed(a)).toEqual([mine.id]);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("for its input leaves its key free for the same request put right", async () => {
    const fleet = await server.fleet(pool(1, 4));
    const a = await asker(server, "t-a", fleet);
    const wrong = bookGpus(a, 1, { ...key, start: NOW - HOUR });
    expect((await refusal(wrong)).code).toBe("INVALID_INPUT");
    const mine = await bookGpus(a, 1, key);
    expect(await listed(a)).toEqual([mine.id]);
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("one key", () => {
  it("in twenty parallel calls is one reservation, answered to all of them", async () => {
    const fleet = await server.fleet(pool(2, 8));
    const a = await asker(server, "t-a", fleet);
    const made = await Promise.all(
      range(20).map(() => bookGpus(a, 1, { idempotencyKey: "at-once" })),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await listed(a)).toEqual([made[0]?.id]);
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(1);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("in twenty parallel calls for the last GPU is granted to all of them", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    const made = await Promise.all(
      range(20).map(() => bookGpus(a, 1, { idempotencyKey: "last-at-once" })),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(1);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("answers what it made, whatever became of it", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    const mine = await bookGpus(a, 1, { idempotencyKey: "ended" });
    await release(a, mine);
    const again = await bookGpus(a, 1, { idempotencyKey: "ended" });
    expect(again).toMatchObject({ id: mine.id, state: "released" });
    expect(await liveReservations(server, fleet)).toEqual([]);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("is two tenants' own: each makes its reservation with it", async () => {
    const fleet = await server.fleet(pool(1, 2));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const [mine, theirs] = await Promise.all([
      bookGpus(a, 1, { idempotencyKey: "shared" }),
      bookGpus(b, 1, { idempotencyKey: "shared" }),
    ]);
    expect(mine.id).not.toBe(theirs.id);
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("a lost answer", () => {
  it("is asked for again by the client, and there is one reservation", async () => {
    const fleet = await server.fleet(pool(1, 8));
    const token = await server.token("t-a");
    let lost = 0;
    const losing: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      if (lost >= 2) return response;
      lost += 1;
      await response.arrayBuffer();
      throw new TypeError("the connection was reset");
    };
    const berth: Berth = createBerth({ url: server.url, token, fetch: losing });
    const a: Asker = { berth, tenantId: "t-a", poolId: fleet.poolId };
    const mine = await bookGpus(a, 1);
    expect(lost).toBe(2);
    expect(await listed(a)).toEqual([mine.id]);
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(1);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("because the caller hung up right after sending is one reservation when it asks again", async () => {
    const fleet = await server.fleet(pool(2, 8));
    const a = await asker(server, "t-a", fleet);
    const keys = range(10).map((i) => `hung-up-${i}`);
    await Promise.all(
      keys.map((idempotencyKey) => sendAndHangUp(gpuRequest(a, 1, { idempotencyKey }))),
    );
    const ask = () => Promise.all(keys.map((idempotencyKey) => bookGpus(a, 1, { idempotencyKey })));
    const ids = (made: readonly { id: string }[]) => made.map(({ id }) => id);
    const first = ids(await ask());
    expect(new Set(first).size).toBe(10);
    expect(ids(await ask())).toEqual(first);
    expect(new Set(await listed(a))).toEqual(new Set(first));
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(10);
    await expectEmptyAfterRelease(server, fleet);
  });
});

/** A create whose caller is gone before it can be answered. */
async function sendAndHangUp(request: BookingRequest): Promise<void> {
  const { hostname, port } = new URL(server.url);
  const body = JSON.stringify(request);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const head = [
    "POST /api/compute/reservations/create HTTP/1.1",
    `host: ${hostname}:${port}`,
    `authorization: Bearer ${await server.token("t-a")}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ].join("\r\n");
  await new Promise((sent) => socket.write(`${head}\r\n\r\n${body}`, sent));
  socket.destroy();
}

describe("a used key with another request", () => {
  let fleet: Fleet;
  let other: Fleet;
  let a: Asker;
  const start = NOW + HOUR;
  const key = { idempotencyKey: "used" };
  beforeAll(async () => {
    fleet = await server.fleet(pool(2, 8));
    other = await server.fleet(pool(2, 8));
    a = await asker(server, "t-a", fleet);
    await bookGpus(a, 2, { ...key, start });
  });

  const changes: readonly (readonly [string, () => Partial<BookingRequest>])[] = [
    ["count", () => ({ devices: [{ class: "gpu", count: 3 }] })],
    [
      "a line more",
      () => ({
        devices: [
          { class: "gpu", count: 2 },
          { class: "gpu", count: 1 },
        ],
      }),
    ],
    ["a selector", () => ({ devices: [{ class: "gpu", count: 2, selector: { model: "H100" } }] })],
    ["start", () => ({ start: start + 1 })],
    ["no start", () => ({ start: undefined })],
    ["duration", () => ({ duration: "61m" })],
    ["topology", () => ({ topology: "nvlink-all" })],
    ["resources", () => ({ resources: { vcpu: 1 } })],
    ["leaseSeconds", () => ({ leaseSeconds: 60 })],
    ["projectId", () => ({ projectId: `prj_${"0".repeat(26)}` })],
    ["spot", () => ({ spot: true })],
    ["gang", () => ({ gang: { size: 2 } })],
    ["poolId", () => ({ poolId: other.poolId })],
  ];

  it.each(changes)("(%s) is CONFLICT and books nothing", async (_, change) => {
    const request = { ...gpuRequest(a, 2, { ...key, start }), ...change() };
    const error = await refusal(a.berth.reservations.create(request));
    expect(error).toMatchObject({ code: "CONFLICT", details: { kind: "key" }, retryable: false });
    expect(await liveReservations(server, other)).toEqual([]);
    expect(await liveReservations(server, fleet)).toHaveLength(1);
  });

  const same: readonly (readonly [string, Partial<BookingRequest>])[] = [
    ["the defaults written out", { binding: "hold", topology: "any", spot: false }],
    ["resources of nothing", { resources: { vcpu: 0, memoryGiB: 0, hugepages1Gi: 0 } }],
    ["the duration in milliseconds", { duration: HOUR }],
    ["the duration in minutes", { duration: "60m" }],
    ["the duration in ISO 8601", { duration: "PT1H" }],
    [
      "a line's defaults",
      { devices: [{ class: "gpu", count: 2, sharing: "exclusive", selector: {} }] },
    ],
    ["a wait", { wait: { timeoutMs: 0 } }],
  ];

  it.each(same)("that only says the same (%s) is answered by the stored one", async (_, more) => {
    const [stored] = await listed(a);
    const request = { ...gpuRequest(a, 2, { ...key, start }), ...more };
    expect((await a.berth.reservations.create(request)).id).toBe(stored);
    expect(await listed(a)).toEqual([stored]);
  });

  it("that only orders its fields otherwise is answered by the stored one", async () => {
    const [stored] = await listed(a);
    const request = gpuRequest(a, 2, { ...key, start });
    const reversed = JSON.stringify(Object.fromEntries(Object.entries(request).toReversed()));
    expect(reversed).not.toBe(JSON.stringify(request));
    const token = await server.token("t-a");
    const answer = await server.http("reservations.create", null, { token, raw: reversed });
    expect(answer.status).toBe(200);
    expect(answer.body["id"]).toBe(stored);
    expect(answer.headers.get("idempotent-replayed")).toBe("true");
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("a used key of pools.create", () => {
  let request: CreatePoolInput & { idempotencyKey: string };
  let provider: CreatePoolInput & { idempotencyKey: string };
  let secondSite: string;
  let secondAccount: string;
  beforeAll(async () => {
    const { admin } = server;
    const tenantId = "t-maker";
    await admin.fleet.putTenant({ tenantId });
    const site = await admin.fleet.putSite({ tenantId, name: "one", region: "r" });
    secondSite = (await admin.fleet.putSite({ tenantId, name: "two", region: "r" })).id;
    const account = await admin.fleet.putProviderAccount({ tenantId, name: "one", kind: "k" });
    const second = await admin.fleet.putProviderAccount({ tenantId, name: "two", kind: "k" });
    secondAccount = second.id;
    const base = { tenantId, siteId: site.id, gpuModel: "H100" };
    request = { ...base, class: "metal-host", idempotencyKey: "pool" };
    provider = {
      ...base,
      class: "provider",
      providerAccountId: account.id,
      idempotencyKey: "provider",
    };
    await admin.pools.create(request);
    await admin.pools.create(provider);
  });

  it("answers the pool that it made, still at version 1, and makes no second one", async () => {
    const { admin } = server;
    const [first, ...more] = await Promise.all(range(10).map(() => admin.pools.create(request)));
    for (const again of more) expect(again).toEqual(first);
    expect(first).toMatchObject({ version: 1, class: "metal-host" });
    const spelled = { ...request, sharing: "exclusive", agent: "bcd" } as const;
    expect(await admin.pools.create(spelled)).toEqual(first);
    expect((await admin.pools.list({ tenantId: "t-maker" })).pools).toHaveLength(2);
  });

  it("sent at once for the first time makes one pool", async () => {
    const { admin } = server;
    const fresh = { ...request, idempotencyKey: "pool-at-once" };
    const made = await Promise.all(range(10).map(() => admin.pools.create(fresh)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(new Set(made.map(({ version }) => version))).toEqual(new Set([1]));
    await server.database.feedCaughtUp();
    const events = await admin.events.list({ tenantId: "t-maker", poolId: made[0]?.id });
    expect(events.events.map(({ type }) => type)).toEqual(["pool.created"]);
    await admin.pools.archive({ tenantId: "t-maker", poolId: made[0]?.id ?? "" });
  });

  it.each([
    ["siteId", () => ({ ...request, siteId: secondSite })],
    ["class", () => ({ ...request, class: "vps-host" as const })],
    ["sharing", () => ({ ...request, sharing: "timeslice" as const })],
    ["agent", () => ({ ...request, agent: "none" as const })],
    ["providerAccountId", () => ({ ...provider, providerAccountId: secondAccount })],
  ])("with another %s is CONFLICT", async (_, changed) => {
    const before = await server.admin.pools.list({ tenantId: "t-maker" });
    const error = await refusal(server.admin.pools.create(changed()));
    expect(error).toMatchObject({ code: "CONFLICT", details: { kind: "key" } });
    expect(await server.admin.pools.list({ tenantId: "t-maker" })).toEqual(before);
  });

  it("that failed is free", async () => {
    const free = { ...request, idempotencyKey: "failed" };
    const wrong = { ...free, class: "provider" as const };
    expect(await outcome(server.admin.pools.create(wrong))).toBe("INVALID_INPUT");
    expect(await outcome(server.admin.pools.create(free))).toBe("OK");
    await server.expectHealthy();
  });
});
