import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Method } from "../../call.ts";
import { type TestApi, testApi } from "../../testing/test-api.ts";
import { type World, bookingInput, makeWorld, nodeReport } from "../../testing/world.ts";

let it: TestApi;
let world: World;

beforeAll(async () => {
  it = await testApi();
  world = await makeWorld(it.invoke, it.admin);
});
afterAll(() => it.close());

const as = (method: Method, input: object) => it.invoke(method, input, world.tokens.admin);
const fleet = (method: Method, input: object) => it.outcome(method, input, it.admin);
const refusal = async (method: Method, input: object) =>
  (await it.outcome(method, input, world.tokens.admin)).error;

interface Put {
  readonly id: string;
  readonly name: string;
  readonly outcome: string;
  readonly topologyGen: number;
}

async function put(nodes: object[], more: object = {}): Promise<Put[]> {
  const answer = await as("fleet.putNodes", { siteId: world.siteId, nodes, ...more });
  return answer["nodes"] as Put[];
}

async function newPool(input: object = {}): Promise<string> {
  const { tenantId, siteId } = world;
  return String(
    (await as("pools.create", { tenantId, siteId, class: "metal-host", ...input }))["id"],
  );
}

const nodeCount = async () => (await it.database.sql`select from nodes`).length;

describe("putTenant", () => {
  test("makes a tenant once, keeps what it is not told, and tells when something changed", async () => {
    const made = await fleet("fleet.putTenant", { tenantId: "corp", name: "Corp" });
    expect(made.output).toEqual({ tenantId: "corp", parentId: null, name: "Corp" });
    await fleet("fleet.putTenant", { tenantId: "corp.a", parentId: "corp" });
    const again = await fleet("fleet.putTenant", { tenantId: "corp.a", name: "A" });
    expect(again.output).toEqual({ tenantId: "corp.a", parentId: "corp", name: "A" });
    await fleet("fleet.putTenant", { tenantId: "corp.a" });
    await fleet("fleet.putTenant", { tenantId: "corp.a", parentId: null });
    const told = async () => {
      const { events } = await it.invoke("events.list", { tenantId: "corp.a" }, it.admin);
      return (events as { type: string }[]).map(({ type }) => type);
    };
    await expect
      .poll(told, { timeout: 20_000 })
      .toEqual(["tenant.put", "tenant.put", "tenant.moved"]);
  });

  test("refuses a parent that would close a circle, itself and one that is not there", async () => {
    await fleet("fleet.putTenant", { tenantId: "ring.1" });
    await fleet("fleet.putTenant", { tenantId: "ring.2", parentId: "ring.1" });
    await fleet("fleet.putTenant", { tenantId: "ring.3", parentId: "ring.2" });
    for (const parentId of ["ring.3", "ring.2", "ring.1", "nobody"])
      expect(
        (await fleet("fleet.putTenant", { tenantId: "ring.1", parentId })).error,
      ).toMatchObject({
        code: "INVALID_INPUT",
        issues: [{ path: ["parentId"] }],
      });
  });

  test("two moves at once never close a circle that neither sees", async () => {
    for (const tenantId of ["swap.a", "swap.b"]) await fleet("fleet.putTenant", { tenantId });
    const moves = await Promise.all([
      fleet("fleet.putTenant", { tenantId: "swap.a", parentId: "swap.b" }),
      fleet("fleet.putTenant", { tenantId: "swap.b", parentId: "swap.a" }),
    ]);
    expect(moves.map(({ code }) => code).toSorted()).toEqual(["INVALID_INPUT", "OK"]);
  });

  test("keeps the tree shallow enough to be walked", async () => {
    await fleet("fleet.putTenant", { tenantId: "deep.0" });
    let deepest = 0;
    for (let i = 1; i < 40; i += 1) {
      const input = { tenantId: `deep.${i}`, parentId: `deep.${i - 1}` };
      if ((await fleet("fleet.putTenant", input)).code === "OK") deepest = i;
      else break;
    }
    expect(deepest).toBe(31);
    const { code } = await fleet("pools.list", { tenantId: `deep.${deepest}` });
    expect(code).toBe("OK");
  });
});

describe("sites and accounts", () => {
  test("the same tenant and name are the same site, and its region may change", async () => {
    const { tenantId, siteId } = world;
    const again = await as("fleet.putSite", { tenantId, name: "hall-1", region: "eu-2" });
    expect(again).toMatchObject({ id: siteId, region: "eu-2", kind: "custom", desiredGen: 0 });
    await as("fleet.putSite", { tenantId, name: "hall-1", region: "eu-1" });
    const { sites } = await as("fleet.listSites", { tenantId });
    expect(sites).toMatchObject([{ id: siteId, region: "eu-1" }]);
  });

  test("a platform site is the fleet operator's to make and to change", async () => {
    const { tenantId } = world;
    const input = { tenantId, name: "platform-1", region: "eu-1", kind: "platform" };
    expect(await refusal("fleet.putSite", input)).toMatchObject({ code: "FORBIDDEN" });
    expect((await fleet("fleet.putSite", input)).output).toMatchObject({ kind: "platform" });
    const tamed = { ...input, kind: "custom" };
    expect(await refusal("fleet.putSite", tamed)).toMatchObject({ code: "FORBIDDEN" });
  });

  test("an account is made once a tenant and name, for tenants that are there", async () => {
    const input = { tenantId: world.tenantId, name: "cloud", kind: "x" };
    const { output } = await fleet("fleet.putProviderAccount", input);
    const again = await fleet("fleet.putProviderAccount", { ...input, kind: "y" });
    expect(again.output).toEqual({ ...(output as object), kind: "y" });
    expect((await fleet("fleet.putProviderAccount", { ...input, tenantId: "nobody" })).code).toBe(
      "NOT_FOUND",
    );
  });
});

describe("putNodes", () => {
  test("the same report again changes nothing, not even a sequence number", async () => {
    const poolId = await newPool();
    const nodes = [nodeReport("same-1"), nodeReport("same-2")];
    const first = await put(nodes, { poolId });
    expect(first.map(({ outcome }) => outcome)).toEqual(["created", "created"]);
    const seq = () => it.database.sql`select seq from gates where id = ${poolId}`;
    const before = await seq();
    const again = await put(nodes, { poolId });
    expect(again).toEqual(first.map((node) => ({ ...node, outcome: "unchanged" })));
    expect(await seq()).toEqual(before);
  });

  test("a record that is wrong writes nothing of any, and is named", async () => {
    const poolId = await newPool();
    const before = await nodeCount();
    const good = nodeReport("good");
    const gpu = { index: 0, model: "H100" };
    const wrong: [object, (string | number)[]][] = [
      [{ name: "good" }, ["nodes", 1, "name"]],
      [{ name: "bad", gpus: [{ ...gpu, uuid: "GPU-good-0" }] }, ["nodes", 1, "gpus", 0, "uuid"]],
      [{ name: "bad", gpus: [{ ...gpu, uuid: `GPU-n-a-0` }] }, ["nodes", 1, "gpus", 0, "uuid"]],
      [{ name: "bad", vcpu: -1 }, ["nodes", 1, "vcpu"]],
      [{ name: "bad", cpus: 1 }, ["nodes", 1, "cpus"]],
    ];
    for (const [record, path] of wrong) {
      const input = { siteId: world.siteId, poolId, nodes: [good, record] };
      const error = await refusal("fleet.putNodes", input);
      expect(error).toMatchObject({ code: "INVALID_INPUT" });
      expect(error?.issues?.map((issue) => issue.path)).toContainEqual(path);
    }
    expect(await nodeCount()).toBe(before);
  });

  test("a GPU may move to another node when both are reported", async () => {
    const [a, b] = [nodeReport("move-a", 1), nodeReport("move-b", 0)] as Record<string, unknown>[];
    await put([a ?? {}, b ?? {}]);
    const moved = await put([
      { ...a, gpus: [] },
      { ...b, gpus: a?.["gpus"] },
    ]);
    expect(moved.map(({ outcome }) => outcome)).toEqual(["changed", "changed"]);
  });

  test("nodes in no pool join the one that is named, others stay where they are", async () => {
    const [first, second] = [await newPool(), await newPool()];
    const reports = [nodeReport("stays", 1), nodeReport("joins", 1), nodeReport("comes", 1)];
    await put(reports.slice(0, 1), { poolId: first });
    await put(reports.slice(1, 2));
    const done = await put(reports, { poolId: second });
    expect(done.map(({ outcome }) => outcome)).toEqual(["unchanged", "changed", "created"]);
    const { tenantId } = world;
    const pools = await Promise.all(
      done.map(
        async ({ id: nodeId }) => (await as("fleet.getNode", { tenantId, nodeId }))["poolId"],
      ),
    );
    expect(pools).toEqual([first, second, second]);
  });

  test("500 nodes go in with one gated write, and in seconds", async () => {
    const poolId = await newPool();
    const nodes = Array.from({ length: 500 }, (_, i) => nodeReport(`bulk-${i}`));
    const began = performance.now();
    const done = await put(nodes, { poolId });
    const took = performance.now() - began;
    expect(done).toHaveLength(500);
    const batches = await it.database.sql`select from gate_batches where gate_id = ${poolId}`;
    expect(batches).toHaveLength(2);
    const [gpu] = (
      (await as("pools.capacity", { tenantId: world.tenantId, poolId }))["capacity"] as {
        resource: string;
        total: number;
      }[]
    ).filter(({ resource }) => resource === "gpu");
    expect(gpu?.total).toBe(4_000);
    expect(took).toBeLessThan(15_000);
  });
});

describe("assignNode and removeNode", () => {
  test("move a free node between pools and out of the fleet; its units stay the same", async () => {
    const [from, to] = [await newPool(), await newPool()];
    const [node] = await put([nodeReport("mover", 2)], { poolId: from });
    const nodeId = node?.id;
    const { tenantId } = world;
    const before = await as("fleet.getNode", { tenantId, nodeId });
    const moved = await as("fleet.assignNode", { nodeId, poolId: to });
    expect(moved).toEqual({ ...before, poolId: to, version: 2 });
    const free = await as("fleet.assignNode", { nodeId, poolId: null });
    expect(free).toMatchObject({ poolId: null, version: 3, units: before["units"] });
    const back = await as("fleet.assignNode", { nodeId, poolId: from });
    expect(back).toMatchObject({ poolId: from, version: 4, units: before["units"] });
    await as("fleet.removeNode", { nodeId });
    expect(await refusal("fleet.getNode", { tenantId, nodeId })).toMatchObject({
      code: "NOT_FOUND",
    });
    const [again] = await put([nodeReport("mover", 2)], { poolId: to });
    expect(again).toMatchObject({ id: nodeId, outcome: "created" });
  });

  test("are refused while a live booking holds the node, and change nothing", async () => {
    const { nodeId, tenantId } = world;
    const before = await as("fleet.getNode", { tenantId, nodeId });
    for (const [method, more] of [
      ["fleet.assignNode", { poolId: null }],
      ["fleet.assignNode", { poolId: world.sparePoolId }],
      ["fleet.removeNode", {}],
    ] as const)
      expect(await refusal(method, { nodeId, ...more })).toMatchObject({ code: "INVALID_STATE" });
    expect(await as("fleet.getNode", { tenantId, nodeId })).toEqual(before);
  });

  test("do not put a node into a pool that is another tenant's", async () => {
    const other = await makeWorld(it.invoke, it.admin, "other");
    const [node] = await put([nodeReport("homebody", 0)]);
    const input = { nodeId: node?.id, poolId: other.poolId };
    expect(await refusal("fleet.assignNode", input)).toMatchObject({ code: "NOT_FOUND" });
    expect(
      await refusal("fleet.putNodes", {
        siteId: world.siteId,
        poolId: other.poolId,
        nodes: [{ name: "x" }],
      }),
    ).toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("maintenance", () => {
  test("is planned dry, agreed to, and refused when the bookings changed", async () => {
    const poolId = await newPool();
    const [node] = await put([nodeReport("serviced", 2)], { poolId });
    const nodeId = node?.id;
    const from = Date.now() + 3_600_000;
    const window = { nodeId, from, to: from + 3_600_000 };
    const dry = await as("fleet.scheduleMaintenance", { ...window, dryRun: true });
    expect(dry).toEqual({ id: null, healed: [], staying: [] });
    const { tenantId } = world;
    const booked = await as(
      "reservations.create",
      bookingInput({ tenantId, poolId, idempotencyKey: "serviced" }),
    );
    const expected = { healed: [], staying: [] };
    const stale = await refusal("fleet.scheduleMaintenance", { ...window, expect: expected });
    const plan = { id: null, healed: [], staying: [booked["id"]] };
    expect(stale).toMatchObject({ code: "CONFLICT", details: { kind: "plan", plan } });
    const agreed = { healed: [], staying: [booked["id"]] };
    const done = await as("fleet.scheduleMaintenance", { ...window, expect: agreed });
    expect(done).toMatchObject(agreed);
    const shown = await as("fleet.getNode", { tenantId, nodeId });
    expect(shown["maintenance"]).toEqual([{ id: done["id"], from, to: window.to }]);
    await as("fleet.cancelMaintenance", { maintenanceId: done["id"] });
    expect(await refusal("fleet.cancelMaintenance", { maintenanceId: done["id"] })).toMatchObject({
      code: "INVALID_STATE",
    });
  });
});

describe("listNodes", () => {
  interface Shown {
    readonly id: string;
    readonly units: { id: string; spans: { kind: string; reservationId: string | null }[] }[];
  }
  const list = async (tenantId: string, more: object = {}, token = it.admin) =>
    (await it.invoke("fleet.listNodes", { tenantId, ...more }, token)) as unknown as {
      nodes: Shown[];
      nextCursor: string | null;
    };

  test("goes through all nodes in pages, by id, none twice", async () => {
    const all = (await list(world.tenantId, { limit: 200, state: "ready" })).nodes.map(
      ({ id }) => id,
    );
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: Awaited<ReturnType<typeof list>> = await list(world.tenantId, {
        limit: 70,
        ...(cursor ? { cursor } : {}),
      });
      seen.push(...page.nodes.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(seen.toSorted());
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.slice(0, 200)).toEqual(all);
    expect(seen).toHaveLength(await ownNodes());
  });

  const ownNodes = async () =>
    (
      await it.database.sql`
      select from nodes n join sites s on s.id = n.site_id
      where s.tenant_id = ${world.tenantId} and n.removed_at is null`
    ).length;

  test("names a tenant's own bookings and calls all others busy", async () => {
    const { poolId, tenantId, strangerTenantId } = world;
    const offer = { tenantId, poolId, toTenantId: strangerTenantId, quota: { gpu: 8 } };
    await as("pools.offer", { ...offer, includeDescendants: false, priority: 0 });
    const guest = world.tokens.stranger;
    const booked = await it.invoke(
      "reservations.create",
      bookingInput({ tenantId: strangerTenantId, poolId, idempotencyKey: "guest" }),
      guest,
    );
    const spansOf = async (of: string, token: string | null) =>
      (await list(of, { poolId }, token ?? "")).nodes.flatMap(({ units }) =>
        units.flatMap(({ spans }) => spans).filter(({ kind }) => kind !== "maintenance"),
      );
    const seen = await spansOf(strangerTenantId, guest);
    expect(seen.filter(({ kind }) => kind === "mine").map((s) => s.reservationId)).toEqual([
      booked["id"],
    ]);
    const busy = seen.filter(({ kind }) => kind === "busy");
    expect(busy.length).toBeGreaterThan(0);
    expect(busy.every(({ reservationId }) => reservationId === null)).toBe(true);
    const owners = await spansOf(tenantId, world.tokens.admin);
    expect(JSON.stringify(owners)).not.toContain(String(booked["id"]));
  });

  test("shows a guest the nodes of pools it sees and none of the owner's others", async () => {
    const { nodes } = await list(world.strangerTenantId, {}, world.tokens.stranger ?? "");
    expect(nodes.map(({ id }) => id)).toEqual([world.nodeId]);
  });

  test("refuses a window that is empty and a cursor of its own making", async () => {
    const { tenantId } = world;
    expect(await refusal("fleet.listNodes", { tenantId, from: 2, to: 2 })).toMatchObject({
      issues: [{ path: ["to"] }],
    });
    expect(await refusal("fleet.listNodes", { tenantId, cursor: "bm9kZXM" })).toMatchObject({
      issues: [{ path: ["cursor"] }],
    });
  });
});
