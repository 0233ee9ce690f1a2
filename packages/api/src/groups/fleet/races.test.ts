/** Calls about the same nodes, sites and accounts at once: each is decided, none fails for the other. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NodeId, type PoolId, ok, setNodeState } from "@berth/domain";
import type { Method } from "../../call.ts";
import { type TestApi, testApi } from "../../testing/test-api.ts";
import { type World, makeWorld, nodeReport } from "../../testing/world.ts";

const ROUNDS = 12;

let it: TestApi;
let world: World;

beforeAll(async () => {
  it = await testApi();
  world = await makeWorld(it.invoke, it.admin, "races");
});
afterAll(() => it.close());

const as = (method: Method, input: object) => it.invoke(method, input, world.tokens.admin);
const outcome = (method: Method, input: object) => it.outcome(method, input, world.tokens.admin);
const put = (nodes: object[], more: object = {}) =>
  outcome("fleet.putNodes", { siteId: world.siteId, nodes, ...more });

async function newPool(): Promise<string> {
  const { tenantId, siteId } = world;
  return String((await as("pools.create", { tenantId, siteId, class: "metal-host" }))["id"]);
}

interface Shown {
  readonly id: string;
  readonly poolId: string | null;
  readonly version: number;
  readonly topologyGen: number;
  readonly units: { gpuUuid: string | null }[];
}

async function nodeNamed(name: string): Promise<Shown> {
  const [row] = await it.database.sql<{ id: string }[]>`
    select id from nodes where name = ${name} and site_id = ${world.siteId}`;
  const input = { tenantId: world.tenantId, nodeId: row?.id };
  return (await as("fleet.getNode", input)) as unknown as Shown;
}

async function registered(name: string, poolId?: string): Promise<Shown> {
  await put([nodeReport(name, 1)], poolId ? { poolId } : {});
  return nodeNamed(name);
}

/** Rounds one after the other, each with its own nodes. */
async function rounds(round: (tag: string) => Promise<void>): Promise<void> {
  for (let i = 0; i < ROUNDS; i += 1) await round(String(i));
}

describe("a node that is reported twice at once", () => {
  test("once for a pool and once for none: both hold, and it is in the pool", async () => {
    const poolId = await newPool();
    await rounds(async (tag) => {
      const name = `both-${tag}`;
      const done = await Promise.all([
        put([nodeReport(name)], { poolId }),
        put([nodeReport(name)]),
      ]);
      expect(done.map(({ code }) => code)).toEqual(["OK", "OK"]);
      const made = done.flatMap(({ output }) => (output as { nodes: { outcome: string }[] }).nodes);
      expect(made.filter((one) => one.outcome === "created").length).toBeLessThanOrEqual(1);
      expect((await nodeNamed(name)).poolId).toBe(poolId);
    });
  });

  test("beside its move to another pool: both hold", async () => {
    const [from, to] = [await newPool(), await newPool()];
    await rounds(async (tag) => {
      const { id: nodeId } = await registered(`moving-${tag}`, from);
      const report = { ...nodeReport(`moving-${tag}`, 1), labels: { round: tag } };
      const done = await Promise.all([
        outcome("fleet.assignNode", { nodeId, poolId: to }),
        put([report], { poolId: from }),
      ]);
      expect(done.map(({ code }) => code)).toEqual(["OK", "OK"]);
      expect(await nodeNamed(`moving-${tag}`)).toMatchObject({
        poolId: to,
        labels: { round: tag },
        version: 3,
      });
    });
  });

  test("beside its removal: both hold, and its version only rises", async () => {
    const poolId = await newPool();
    let { version } = await registered("leaving", poolId);
    await rounds(async (tag) => {
      const { id: nodeId } = await nodeNamed("leaving");
      const report = { ...nodeReport("leaving", 1), labels: { round: tag } };
      const done = await Promise.all([
        outcome("fleet.removeNode", { nodeId }),
        put([report], { poolId }),
      ]);
      expect(done.map(({ code }) => code)).toEqual(["OK", "OK"]);
      await put([report], { poolId });
      const after = await nodeNamed("leaving");
      expect(after.version).toBeGreaterThan(version);
      version = after.version;
    });
  });
});

test("of two nodes that are reported with one GPU at once, one gets it and the other is told where it is", async () => {
  const poolId = await newPool();
  await rounds(async (tag) => {
    const gpu = { uuid: `GPU-wanted-${tag}`, index: 0, model: "H100" };
    const names = [`left-${tag}`, `right-${tag}`];
    const where = [{}, Number(tag) % 2 ? { poolId } : {}];
    const done = await Promise.all(
      names.map((name, i) => put([{ name, gpus: [gpu] }], Number(tag) % 3 ? where[i] : { poolId })),
    );
    expect(done.map(({ code }) => code).toSorted()).toEqual(["INVALID_INPUT", "OK"]);
    const winner = names[done.findIndex(({ code }) => code === "OK")];
    expect(done.find(({ error }) => error)?.error).toMatchObject({
      issues: [
        {
          path: ["nodes", 0, "gpus", 0, "uuid"],
          message: expect.stringContaining(`is on node ${winner} already`),
        },
      ],
    });
  });
});

test("a command that is refused for what is elsewhere takes no neighbour of its batch with it", async () => {
  const [here, there] = [await newPool(), await newPool()] as [PoolId, PoolId];
  const [sound, strange] = [await registered("sound", here), await registered("strange", there)];
  const { engine } = it.deps;
  const read = await engine.read(there, (state) => state.node(strange.id as NodeId) ?? null);
  const node = read?.value;
  if (!node) throw new Error("the node is not in its pool");
  const command = { name: "test", tenantId: world.tenantId };
  const [taken, changed] = await Promise.allSettled([
    engine.submit(here, {
      ...command,
      plan: (turn) => {
        turn.apply({ kind: "node", before: null, after: node });
        return ok(null);
      },
    }),
    engine.submit(here, {
      ...command,
      plan: (turn) => setNodeState(turn, { nodeId: sound.id as NodeId, state: "unhealthy" }),
    }),
  ]);
  expect(taken).toMatchObject({ status: "rejected", reason: { name: "Elsewhere" } });
  expect(changed).toMatchObject({ status: "fulfilled", value: { value: { ok: true } } });
  expect((await nodeNamed("sound")).version).toBe(2);
  expect((await nodeNamed("strange")).poolId).toBe(there);
});

test("two nodes in no pool may swap their GPUs in one report", async () => {
  const [a, b] = [nodeReport("swap-a", 1), nodeReport("swap-b", 1)] as { gpus: object[] }[];
  await put([a ?? {}, b ?? {}]);
  const done = await put([
    { ...a, gpus: b?.gpus },
    { ...b, gpus: a?.gpus },
  ]);
  expect(done.code).toBe("OK");
  expect((await nodeNamed("swap-a")).units[0]?.gpuUuid).toBe("GPU-swap-b-0");
  expect((await nodeNamed("swap-b")).units[0]?.gpuUuid).toBe("GPU-swap-a-0");
});

describe("a node that moves", () => {
  test("is found by every call that comes meanwhile", async () => {
    const [from, to] = [await newPool(), await newPool()];
    await rounds(async (tag) => {
      const { id: nodeId } = await registered(`found-${tag}`, from);
      const state = "unhealthy";
      const done = await Promise.all([
        outcome("fleet.assignNode", { nodeId, poolId: to }),
        outcome("fleet.assignNode", { nodeId, poolId: null }),
        outcome("fleet.setNodeState", { nodeId, state }),
        outcome("fleet.getNode", { tenantId: world.tenantId, nodeId }),
      ]);
      expect(done.map(({ code }) => code)).toEqual(["OK", "OK", "OK", "OK"]);
      expect(await nodeNamed(`found-${tag}`)).toMatchObject({ state, version: 4 });
    });
  });

  test("is no longer in reach of a key that is limited to the pool it left", async () => {
    const [from, to] = [await newPool(), await newPool()];
    const made = await as("access.createKey", {
      tenantId: world.tenantId,
      role: "tenant-admin",
      name: "narrow",
      scope: { poolIds: [from] },
    });
    await rounds(async (tag) => {
      const { id: nodeId } = await registered(`narrow-${tag}`, from);
      const [, narrow] = await Promise.all([
        outcome("fleet.assignNode", { nodeId, poolId: to }),
        it.outcome("fleet.setNodeState", { nodeId, state: "unhealthy" }, String(made["secret"])),
      ]);
      const { version } = await nodeNamed(`narrow-${tag}`);
      expect([narrow.code, version]).toEqual(narrow.code === "OK" ? ["OK", 3] : ["NOT_FOUND", 2]);
    });
  });
});

test("a node that was removed and comes back counts its version and generation on", async () => {
  const poolId = await newPool();
  const { id: nodeId } = await registered("again", poolId);
  await as("fleet.setNodeState", { nodeId, state: "unhealthy" });
  await as("fleet.removeNode", { nodeId });
  expect(await registered("again", poolId)).toMatchObject({
    id: nodeId,
    version: 3,
    topologyGen: 2,
  });
});

test("maintenance of a node in no pool is told when it begins and ends, and raises its version", async () => {
  const { id: nodeId } = await registered("alone");
  const from = Date.now() - 1_000;
  const window = await as("fleet.scheduleMaintenance", { nodeId, from, to: Date.now() + 1_500 });
  const told = async () => {
    const rows = await it.database.sql<{ type: string; tenantId: string }[]>`
      select type, tenant_id as "tenantId" from events
      where data ->> 'maintenanceId' = ${String(window["id"])} order by id`;
    return rows.map(({ type, tenantId }) => [type, tenantId]);
  };
  const read = async () => (await nodeNamed("alone")).version;
  await expect.poll(read, { timeout: 20_000 }).toBe(4);
  expect(await told()).toEqual([
    ["maintenance.scheduled", world.tenantId],
    ["maintenance.started", world.tenantId],
    ["maintenance.ended", world.tenantId],
  ]);
});

test("a report for a pool answers the pool's sequence", async () => {
  const poolId = await newPool();
  const context = it.api.context({ token: it.admin, requestId: "req-seq" });
  const input = { siteId: world.siteId, poolId, nodes: [nodeReport("counted", 1)] };
  const rawInput = () => Promise.resolve(input);
  await it.api.invoke({ method: "fleet.putNodes", rawInput, context });
  const [gate] = await it.database.sql<{ seq: number }[]>`
    select seq from gates where id = ${poolId}`;
  expect(context.answer.seq).toBe(gate?.seq);
});

test("a node's address is shown to its owner and the fleet's operator only", async () => {
  const { tenantId, strangerTenantId } = world;
  const poolId = await newPool();
  await put([{ ...nodeReport("reached", 1), address: "10.0.0.7" }], { poolId });
  const { id: nodeId } = await nodeNamed("reached");
  await as("pools.offer", {
    ...{ tenantId, poolId, toTenantId: strangerTenantId, quota: { gpu: 1 } },
    ...{ includeDescendants: false, priority: 0 },
  });
  const shown = async (of: string, token: string | null) => {
    const node = await it.invoke("fleet.getNode", { tenantId: of, nodeId }, token);
    const page = await it.invoke("fleet.listNodes", { tenantId: of, poolId }, token);
    return [node["address"], ...(page["nodes"] as { address: unknown }[]).map((n) => n.address)];
  };
  expect(await shown(tenantId, world.tokens.viewer)).toEqual(["10.0.0.7", "10.0.0.7"]);
  expect(await shown(strangerTenantId, world.tokens.stranger)).toEqual([null, null]);
  expect(await shown(strangerTenantId, it.admin)).toEqual(["10.0.0.7", "10.0.0.7"]);
});

describe("what has a name", () => {
  test("a site that is made several times at once is one site, told once", async () => {
    await rounds(async (tag) => {
      const input = { tenantId: world.tenantId, name: `site-${tag}`, region: "eu-1" };
      const done = await Promise.all([1, 2, 3, 4].map(() => outcome("fleet.putSite", input)));
      expect(done.map(({ code }) => code)).toEqual(["OK", "OK", "OK", "OK"]);
      const [site] = done.map(({ output }) => (output as { id: string }).id);
      const told = await it.database.sql`
        select from events where type = 'site.put' and data ->> 'siteId' = ${site ?? ""}`;
      expect(told).toHaveLength(1);
    });
  });

  test("an account that is made several times at once is one account", async () => {
    await rounds(async (tag) => {
      const input = { tenantId: world.tenantId, name: `cloud-${tag}`, kind: "x" };
      const done = await Promise.all(
        [1, 2, 3, 4].map(() => it.outcome("fleet.putProviderAccount", input, it.admin)),
      );
      expect(done.map(({ code }) => code)).toEqual(["OK", "OK", "OK", "OK"]);
      expect(new Set(done.map(({ output }) => JSON.stringify(output))).size).toBe(1);
    });
  });
});
