/** What a caller may not see is absent, and neither counts nor sums nor cursors nor pages tell that it is there. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MethodName } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { METRICS_TOKEN, counter } from "../faults/together.ts";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";

const HIDES = `forbid (principal is Berth::Principal, action, resource is Berth::Pool)
when { principal.name == "half-blind" && resource has gpuModel && resource.gpuModel == "H200" };
forbid (principal, action == Berth::Action::"compute:events:read", resource)
when { principal.name == "unlucky" && 9223372036854775807 + 1 > 0 };`;

let server: TestServer;
let shown: Fleet;
let folder: string;
/** A key that a policy of the operator's hides pools from, and one that was narrowed to the pools it sees. */
let blind: string;
let narrow: string;
/** What the two were answered while there was nothing to hide. */
let before: Record<string, unknown>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-policies-"));
  writeFileSync(join(folder, "hides.cedar"), HIDES);
  server = await startServer({
    clock: Date.UTC(2031, 4, 5, 9),
    config: { policyDir: folder, metricsToken: METRICS_TOKEN },
  });
  shown = await server.fleet(pool(3, 4, { owner: "t-own", offers: {} }));
  const { poolId } = shown;
  const key = { tenantId: "t-own", role: "tenant-admin" } as const;
  const { admin } = server;
  blind = (await admin.access.createKey({ ...key, name: "half-blind" })).secret;
  narrow = (await admin.access.createKey({ ...key, name: "narrow", scope: { poolIds: [poolId] } }))
    .secret;
  await book(poolId, 3);
  before = { blind: await everything(blind), narrow: await everything(narrow) };
  await hide();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function book(poolId: string, count: number): Promise<void> {
  const devices = [{ class: "gpu" as const, count: 1 }];
  for (let made = 0; made < count; made += 1)
    await server.admin.reservations.create({ tenantId: "t-own", poolId, devices, duration: "2d" });
}

/** Two more pools with nodes and bookings, one of the model whose pools are counted, all of them hidden. */
async function hide(): Promise<void> {
  const { admin } = server;
  for (let made = 0; made < 2; made += 1) {
    const hidden = await server.fleet(pool(3, 4, { owner: "t-own", offers: {} }));
    const of = { tenantId: "t-own", poolId: hidden.poolId };
    await admin.pools.update({ ...of, gpuModel: "H200" });
    await book(hidden.poolId, 3);
  }
}

/** Page by page, as small as they come: every page and every cursor. */
async function pages(method: MethodName, input: object, token: string): Promise<unknown[]> {
  const all: unknown[] = [];
  let cursor: unknown;
  do {
    const { status, body } = await server.http(
      method,
      { tenantId: "t-own", limit: 2, ...input, ...(cursor ? { cursor } : {}) },
      { token },
    );
    expect(status).toBe(200);
    all.push(body);
    cursor = body["nextCursor"];
  } while (cursor);
  return all;
}

async function everything(token: string): Promise<Record<string, unknown>> {
  const one = async (method: MethodName) =>
    (await server.http(method, { tenantId: "t-own" }, { token })).body;
  return {
    summary: await one("capacity.summary"),
    pools: await one("pools.list"),
    reservations: await pages("reservations.list", {}, token),
    members: await pages("reservations.list", { include: ["members"] }, token),
    current: await pages("reservations.list", { state: ["active"] }, token),
  };
}

describe("with half of the items hidden, lists and sums are those of before there was anything to hide", () => {
  it("by a policy of the operator's", async () => {
    // The summary is decided on the tenant as a whole, and shows the whole: only its pools' key narrows it.
    const { summary: _now, ...now } = await everything(blind);
    const { summary: _then, ...then } = before["blind"] as typeof now;
    expect(now).toEqual(then);
  });

  it("by the pools that a key was narrowed to", async () => {
    expect(await everything(narrow)).toEqual(before["narrow"]);
    const nodes = await pages("fleet.listNodes", {}, narrow);
    const ids = nodes.flatMap((page) => (page as { nodes: { id: string }[] }).nodes);
    expect(ids.map(({ id }) => id).toSorted()).toEqual([...shown.nodeIds].toSorted());
    expect(nodes).toHaveLength(2);
  });

  it("though they are there for who may see them", async () => {
    const all = await everything(await server.token("t-own", "tenant-admin"));
    expect((all["pools"] as { pools: unknown[] }).pools).toHaveLength(3);
    expect(all["summary"]).toMatchObject({
      byGpuModel: { H100: { total: 12 }, H200: { total: 24, allocated: 6 } },
    });
    expect((before["blind"] as typeof all)["summary"]).toMatchObject({
      byGpuModel: { H100: { total: 12, allocated: 3 } },
    });
    expect(JSON.stringify(before["blind"])).not.toContain("H200");
  });

  it("and one of them that is named is not there, or refused as any of its kind would be", async () => {
    const { pools } = await server.admin.pools.list({ tenantId: "t-own" });
    const hidden = pools.filter(({ gpuModel }) => gpuModel === "H200").map(({ id }) => id);
    expect(hidden).toHaveLength(2);
    const code = async (poolId: string, token: string) =>
      (await server.http("pools.get", { tenantId: "t-own", poolId }, { token })).body["code"];
    for (const poolId of hidden) expect(await code(poolId, narrow)).toBe("NOT_FOUND");
    // A policy refuses what its tenant owns: that it is there is no secret to its tenant.
    for (const poolId of hidden) expect(await code(poolId, blind)).toBe("FORBIDDEN");
  });
});

describe("a policy that cannot be evaluated", () => {
  it("denies what it speaks of, and nothing else, and is counted", async () => {
    const failures = () => counter(server.url, "berth_policy_errors_total");
    const key = { tenantId: "t-own", role: "tenant-admin", name: "unlucky" } as const;
    const { secret: token } = await server.admin.access.createKey(key);
    const before = await failures();
    const code = async (method: MethodName, as: string) =>
      (await server.http(method, { tenantId: "t-own" }, { token: as })).body["code"] ?? "OK";
    expect(await code("events.list", token)).toBe("FORBIDDEN");
    expect(await code("pools.list", token)).toBe("OK");
    expect(await code("events.list", blind)).toBe("OK");
    expect(await failures()).toBe(before + 1);
  });

  it.each([
    ["a syntax error", "permit (principal, action, resource"],
    ["a type error", "permit (principal, action, resource) when { 1 == principal.name };"],
    [
      "an attribute that may be missing",
      'forbid (principal, action, resource is Berth::Pool) when { resource.gpuModel == "x" };',
    ],
    [
      "`in` on a text",
      'forbid (principal, action, resource is Berth::Pool) when { resource.region in ["eu"] };',
    ],
  ])("or is not even one, with %s, stops the start", async (_name, text) => {
    const bad = mkdtempSync(join(tmpdir(), "berth-policies-"));
    writeFileSync(join(bad, "site.cedar"), text);
    const starting = startServer({ database: server.database, config: { policyDir: bad } });
    await expect(starting).rejects.toThrow(/site\.cedar/);
    rmSync(bad, { recursive: true });
  });
});
