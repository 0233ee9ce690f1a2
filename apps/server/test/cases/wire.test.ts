/** What crosses the wire: plain integers, times to the millisecond, and as much of it as anybody may send. */
import type { BookingRequest, DeviceLine } from "@berth/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, node, pool, startServer } from "../harness.ts";
import { HOUR, MINUTE, NOW, asker, bookGpus, range } from "./asking.ts";
import { expectConsistent, expectEmptyAfterRelease } from "./invariants.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
});
afterAll(() => server.stop());

/** The body of a POST, unparsed. */
async function textOf(method: string, input: object, token: string): Promise<string> {
  const response = await fetch(`${server.url}/api/compute/${method.replace(".", "/")}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  expect(response.status).toBe(200);
  return response.text();
}

/** Every value of the JSON that is no text: as it is written, by the name before it. */
function literals(json: string): (readonly [name: string, written: string])[] {
  return [...json.matchAll(/"([^"\\]+)":([^"[{\s,\]}]+)/g)].map(
    ([, name = "", written = ""]) => [name, written] as const,
  );
}

const INTEGER = /^(?:0|[1-9]\d*)$/;
const WORDS = new Set(["true", "false", "null"]);

describe("sums over pools", () => {
  it("are integers of JSON, by model, and of whole GPUs alone", async () => {
    const offers = { "t-sum": { gpu: 100, vcpu: 100, memoryGiB: 100 } };
    const made: Fleet[] = [];
    for (const name of ["sum-1", "sum-2"]) {
      const nodes = [node(name, 8, { nics: [{ name: "ib0", vfs: 3 }], disks: disk(name) })];
      made.push(await server.fleet(pool(1, 8, { offers, nodes })));
    }
    const [first, second] = made;
    if (!first || !second) throw new Error("two pools were made");
    const unlabelled = await unlabelledPool(first, offers);
    const a = await asker(server, "t-sum", first);
    await bookGpus(a, 3, { resources: { vcpu: 5, memoryGiB: 7 } });
    await bookGpus({ ...a, poolId: second.poolId }, 2, { start: NOW + HOUR });
    await bookGpus({ ...a, poolId: unlabelled.poolId }, 1);

    const text = await textOf(
      "capacity.summary",
      { tenantId: "t-sum" },
      await server.token("t-sum"),
    );
    const written = literals(text).filter(([, value]) => !WORDS.has(value));
    expect(written.length).toBeGreaterThan(100);
    for (const [name, value] of written)
      expect([name, value]).toEqual([name, expect.stringMatching(INTEGER)]);
    const { byGpuModel } = await a.berth.capacity.summary({ tenantId: "t-sum" });
    expect(byGpuModel).toEqual({
      H100: { total: 16, allocatable: 16, allocated: 3, reserved: 2, available: 11 },
      other: { total: 4, allocatable: 4, allocated: 1, reserved: 0, available: 3 },
    });
    const { capacity } = await a.berth.capacity.byPool({ tenantId: "t-sum", poolId: first.poolId });
    expect(
      capacity.map(({ resource, total, allocated, available }) => [
        resource,
        total,
        allocated,
        available,
      ]),
    ).toEqual([
      ["disk", 1, 0, 1],
      ["gpu", 8, 3, 5],
      ["memoryGiB", 512, 7, 505],
      ["nic.vf", 3, 0, 3],
      ["node", 1, 0, 1],
      ["vcpu", 64, 5, 59],
    ]);
    for (const fleet of [first, second, unlabelled]) await expectEmptyAfterRelease(server, fleet);
  });

  it("write every number of every answer as an integer, scores aside", async () => {
    const fleet = await server.fleet(pool(2, 8));
    const { poolId, owner } = fleet;
    const a = await asker(server, "t-a", fleet);
    const mine = await bookGpus(a, 3, { leaseSeconds: 60, resources: { vcpu: 3, memoryGiB: 9 } });
    const token = await server.token("t-a");
    const request = { devices: [{ class: "gpu", count: 1 }], duration: "1h", idempotencyKey: "w" };
    const reads: readonly (readonly [string, object])[] = [
      ["pools.list", { tenantId: "t-a" }],
      ["pools.get", { tenantId: "t-a", poolId }],
      ["pools.capacity", { tenantId: "t-a", poolId }],
      ["capacity.timeline", { tenantId: "t-a", poolId }],
      ["capacity.preview", { tenantId: "t-a", poolId, ...request }],
      ["reservations.quote", { tenantId: "t-a", poolId, ...request }],
      ["reservations.get", { tenantId: "t-a", reservationId: mine.id }],
      ["reservations.list", { tenantId: "t-a", include: ["members"] }],
      ["fleet.listNodes", { tenantId: "t-a", poolId }],
      ["events.list", { tenantId: "t-a", poolId }],
      ["access.whoami", {}],
    ];
    for (const [method, input] of reads) {
      const written = literals(await textOf(method, input, token));
      for (const [name, value] of written) {
        if (WORDS.has(value) || name === "score") continue;
        expect([method, name, value]).toEqual([method, name, expect.stringMatching(INTEGER)]);
      }
    }
    const offered = await server.admin.pools.offer({
      tenantId: owner,
      poolId,
      toTenantId: "t-a",
      quota: {},
      priority: -7,
    });
    expect(offered.offer).toEqual({ includeDescendants: false, priority: -7 });
    expect(offered.version).toBe(1);
    await expectEmptyAfterRelease(server, fleet);
  });
});

const disk = (name: string) => [{ name: `${name}-nvme`, sizeGiB: 1_000 }];

/** A pool without a model, on the site of the other one. */
async function unlabelledPool(
  { owner, siteId }: Fleet,
  offers: Readonly<Record<string, Readonly<Record<string, number>>>>,
): Promise<Fleet> {
  const { admin } = server;
  const made = await admin.pools.create({ tenantId: owner, siteId, class: "metal-host" });
  expect(made.gpuModel).toBeNull();
  const nodes = [node("unlabelled", 4)];
  const put = await admin.fleet.putNodes({ siteId, poolId: made.id, nodes });
  for (const [toTenantId, quota] of Object.entries(offers)) {
    await admin.pools.offer({ tenantId: owner, poolId: made.id, toTenantId, quota: { ...quota } });
  }
  return { owner, siteId, poolId: made.id, nodeIds: put.nodes.map(({ id }) => id) };
}

describe("times", () => {
  it("are milliseconds, exact, wherever they are read", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    const start = NOW + 3 * HOUR + 123;
    const duration = 59 * MINUTE + 59_877;
    const mine = await bookGpus(a, 1, { start, duration });
    expect(mine).toMatchObject({ start, end: start + duration, createdAt: NOW, updatedAt: NOW });
    const token = await server.token("t-a");
    const raw = JSON.parse(
      await textOf("reservations.get", { tenantId: "t-a", reservationId: mine.id }, token),
    ) as unknown;
    expect(raw).toEqual(mine);
    const { reservations } = await a.berth.reservations.list({
      tenantId: "t-a",
      poolId: fleet.poolId,
      include: ["members"],
    });
    expect(reservations).toEqual([mine]);
    const { capacity } = await a.berth.capacity.byPool({ tenantId: "t-a", poolId: fleet.poolId });
    expect(new Set(capacity.map(({ updatedAt }) => updatedAt))).toEqual(new Set([NOW]));
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("three hundred parallel previews of the largest request", () => {
  it("are all answered", async () => {
    const fleet = await server.fleet(pool(1, 8));
    const a = await asker(server, "t-a", fleet);
    const answers = await Promise.all(
      range(300).map((i) => a.berth.capacity.preview(largestRequest(fleet, i))),
    );
    expect(answers).toHaveLength(300);
    for (const answer of answers) {
      expect(answer).toMatchObject({ fits: false, reason: { code: "SELECTOR" } });
    }
    await expectConsistent(server, fleet);
    await expectEmptyAfterRelease(server, fleet);
  });
});

/** Every field at its longest, in characters of three bytes where any are taken. */
function largestRequest({ poolId }: Fleet, i: number): BookingRequest {
  return {
    tenantId: "t-a",
    poolId,
    projectId: `prj_${"z".repeat(52)}`,
    devices: range(8).map((line) => largestLine(line)),
    topology: "nvlink-all",
    start: NOW + 2 ** 34,
    duration: `${"0".repeat(60)}364d`,
    binding: "hold",
    resources: { vcpu: 4_096, memoryGiB: 65_536, hugepages1Gi: 4_096 },
    spot: false,
    leaseSeconds: 86_400,
    idempotencyKey: `${i}`.padStart(128, "k"),
  };
}

function largestLine(line: number): DeviceLine {
  return {
    class: "gpu",
    count: 64,
    topology: "nvlink-all",
    sharing: "exclusive",
    selector: {
      model: "界".repeat(256),
      profile: "9".repeat(32),
      memoryGiB: 4_194_304,
      labels: Object.fromEntries(
        range(16).map((label) => [`${label}`.padStart(128, "界"), "界".repeat(256)]),
      ),
      unitIds: range(64).map((unit) => `unit_${`${line}${unit}`.padStart(52, "z")}`),
    },
  };
}
