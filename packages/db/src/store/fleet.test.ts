/** Nodes, units and configurations through the gate. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Change, GateId, Maintenance, Node, PoolConfig } from "@berth/domain";
import type { Database } from "../database.ts";
import { HOUR, T0, batchOf, bookingOf, created, id, nodeOf, poolOf } from "../testing/fixtures.ts";
import { type TestDatabase, seedPool, seedTenants } from "../testing/index.ts";
import { type StoreRoom, openRoom } from "./test-kit.ts";
import type { GateBatch, PoolStore } from "./types.ts";

let room: StoreRoom;
let test_: TestDatabase;
let db: Database;
let store: PoolStore;
let count = 0;
let batches = 0;
let pool: PoolConfig;
let node: Node;

beforeAll(async () => {
  room = await openRoom(3);
  ({ database: test_, db, store } = room);
});
afterAll(() => room.close());
beforeEach(async () => {
  count += 1;
  pool = poolOf(count);
  await seedPool(db, { config: pool, nodes: [nodeOf(count)] });
  node = (await nodesOf(pool.id))[0] ?? nodeOf(count);
});

function batch(changes: Change[], part: Partial<GateBatch> = {}): GateBatch {
  batches += 1;
  return batchOf(`f${batches}`, { changes, ...part });
}
async function apply(gateId: GateId, changes: Change[], part: Partial<GateBatch> = {}) {
  const expectedSeq = (await store.head(gateId))?.seq ?? 0;
  return store.apply({ gateId, expectedSeq, batch: batch(changes, part) }, T0);
}
async function nodesOf(gateId: GateId): Promise<readonly Node[]> {
  return (await store.load(gateId))?.snapshot.nodes ?? [];
}
const put = (before: Node | null, after: Node | null): Change => ({ kind: "node", before, after });
const configure = (after: PoolConfig): Change => ({ kind: "config", before: pool, after });

test("a unit that leaves and comes back keeps its key, and its past bookings", async () => {
  const row = bookingOf(count, node, { poolId: pool.id, units: [7] });
  await apply(pool.id, [created(row)]);
  const smaller = { ...node, units: node.units.slice(0, 7) };
  await apply(pool.id, [put(node, smaller)]);
  expect((await nodesOf(pool.id))[0]?.units).toEqual(smaller.units);
  await apply(pool.id, [put(smaller, node)]);
  expect(await nodesOf(pool.id)).toEqual([node]);
  const kept = await test_.sql`select 1 from bookings where unit_key = ${node.units[7]?.key ?? 0}`;
  expect(kept).toHaveLength(1);
});

test("a unit that left cannot be booked", async () => {
  await apply(pool.id, [put(node, { ...node, units: node.units.slice(0, 7) })]);
  const row = bookingOf(count, node, { poolId: pool.id, units: [7] });
  await expect(apply(pool.id, [created(row)])).rejects.toMatchObject({ code: "23502" });
});

test("a removed node is gone from loads, resets the others, and its name is free again", async () => {
  const since = await store.head(pool.id);
  await apply(pool.id, [put(node, null)]);
  expect(await nodesOf(pool.id)).toEqual([]);
  const delta = since && (await store.delta(pool.id, since));
  expect(delta).toMatchObject({ reset: true, config: null, nodes: [], reservations: [] });
  const again = { ...nodeOf(count + 10_000), name: node.name };
  expect((await apply(pool.id, [put(null, again)])).ok).toBe(true);
});

test("a node whose name is taken at the site is refused, also when two come at once", async () => {
  const twin = (n: number): Node => ({ ...nodeOf(n), name: node.name });
  expect(await apply(pool.id, [put(null, twin(count + 20_000))])).toEqual({
    ok: false,
    kind: "elsewhere",
  });
  const fresh = [count + 30_000, count + 40_000].map((n) => ({
    ...nodeOf(n),
    name: `new-${count}`,
  }));
  const outcomes = await Promise.all(fresh.map((node) => apply(node.id, [put(null, node)])));
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  expect(outcomes.find(({ ok }) => !ok)).toEqual({ ok: false, kind: "elsewhere" });
});

test("a new node that is in another gate, or follows no version it was removed at, is refused", async () => {
  const other = poolOf(count + 90_000);
  await seedPool(db, { config: other, nodes: [] });
  const refused = { ok: false, kind: "elsewhere" };
  expect(await apply(other.id, [put(null, node)])).toEqual(refused);
  expect(await apply(node.id, [put(null, node)])).toEqual(refused);
  await apply(pool.id, [put(node, null)]);
  expect(await apply(other.id, [put(null, node)])).toEqual(refused);
  const next = { ...node, version: node.version + 1 };
  expect((await apply(other.id, [put(null, next)])).ok).toBe(true);
});

test("a GPU that another gate's node of the site has is refused, also when two bring it at once", async () => {
  const with_ = (n: number, gpuUuid: string): Node => {
    const fresh = nodeOf(n, 1);
    return { ...fresh, units: fresh.units.map((unit) => ({ ...unit, gpuUuid })) };
  };
  const refused = { ok: false, kind: "elsewhere" };
  const uuid = node.units[0]?.gpuUuid ?? "";
  const taker = with_(count + 91_000, uuid);
  expect(await apply(taker.id, [put(null, taker)])).toEqual(refused);
  const bare = { ...taker, units: [] };
  expect((await apply(taker.id, [put(null, bare)])).ok).toBe(true);
  expect(await apply(taker.id, [put(bare, taker)])).toEqual(refused);
  const given: Change = { kind: "node", before: bare, after: taker, givers: [node.id] };
  expect((await apply(taker.id, [given])).ok).toBe(true);
  const racers = [count + 92_000, count + 93_000].map((n) => with_(n, `GPU-race-${count}`));
  const outcomes = await Promise.all(racers.map((one) => apply(one.id, [put(null, one)])));
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  expect(outcomes.find(({ ok }) => !ok)).toEqual(refused);
});

test("a node in no pool has a gate of its own; a move takes it from one to the other in one write", async () => {
  const alone = nodeOf(count + 50_000);
  expect(await apply(alone.id, [put(null, alone)])).toEqual({ ok: true, seq: 1 });
  const [here] = await nodesOf(alone.id);
  const gate = await store.load(alone.id);
  expect(gate?.snapshot.config).toBeNull();
  const outcome = await store.applyPair(
    { gateId: alone.id, expectedSeq: 1, batch: batch([put(alone, null)]) },
    { gateId: pool.id, expectedSeq: 1, batch: batch([put(null, { ...alone, version: 2 })]) },
    T0,
  );
  expect(outcome).toEqual({ ok: true, seq: 2 });
  expect(await nodesOf(alone.id)).toEqual([]);
  const moved = (await nodesOf(pool.id)).find(({ id }) => id === alone.id);
  expect(moved).toEqual({ ...here, version: 2 });
  expect((await store.head(alone.id))?.resetSeq).toBe(2);
});

test("a move of which one side is stale writes nothing on either", async () => {
  const other = poolOf(count + 60_000);
  await seedPool(db, { config: other, nodes: [] });
  const a = { gateId: pool.id, expectedSeq: 1, batch: batch([put(node, null)]) };
  const b = { gateId: other.id, expectedSeq: 5, batch: batch([put(null, node)]) };
  expect(await store.applyPair(a, b, T0)).toEqual({ ok: false, kind: "stale", seq: 1 });
  expect(await nodesOf(pool.id)).toEqual([node]);
  expect((await store.head(pool.id))?.seq).toBe(1);
});

test("moves between two pools in both directions at once do not deadlock", async () => {
  const other = poolOf(count + 70_000);
  const theirs = nodeOf(count + 70_000);
  await seedPool(db, { config: other, nodes: [theirs] });
  const side = (gateId: GateId, change: Change) => ({
    gateId,
    expectedSeq: 1,
    batch: batch([change]),
  });
  const outcomes = await Promise.all([
    store.applyPair(side(pool.id, put(node, null)), side(other.id, put(null, node)), T0),
    store.applyPair(side(other.id, put(theirs, null)), side(pool.id, put(null, theirs)), T0),
  ]);
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
});

test("another gate's node is not taken over without that gate", async () => {
  const other = poolOf(count + 80_000);
  await seedPool(db, { config: other, nodes: [] });
  await expect(apply(other.id, [put(node, node)])).rejects.toMatchObject({ code: "BG002" });
});

test("maintenance windows come back, and end or are called off when their node drops them", async () => {
  const window = (n: number, change: Partial<Maintenance>): Maintenance => ({
    id: id("mnt", `${count}${n}`),
    start: T0 + HOUR,
    end: T0 + 2 * HOUR,
    active: false,
    ...change,
  });
  const over = window(1, { start: T0 - HOUR, end: T0, active: true });
  const planned = window(2, {});
  const busy = { ...node, maintenance: [over, planned] };
  await apply(pool.id, [put(node, busy)]);
  expect(await nodesOf(pool.id)).toEqual([busy]);
  await apply(pool.id, [put(busy, node)]);
  const rows =
    await test_.sql`select state from maintenance where node_id = ${node.id} order by start`;
  expect(rows.map(({ state }) => state)).toEqual(["ended", "cancelled"]);
});

test("a new configuration replaces offers and quotas, keeps what is used, and rewrites what policies test", async () => {
  await seedTenants(db, ["t-b"]);
  const quotaUsed = [{ tenantId: "t-a", resource: "gpu", used: 3 }];
  await apply(pool.id, [], { quotaUsed });
  const after: PoolConfig = {
    ...pool,
    version: 2,
    policy: { label: "second" },
    offers: [{ tenantId: "t-b", includeDescendants: true, priority: 4 }],
    quotas: [
      { tenantId: "t-a", resource: "gpu", max: 5 },
      { tenantId: "t-b", resource: "gpu", max: 7 },
    ],
  };
  await apply(pool.id, [configure(after)]);
  const stored = await store.stored(pool.id);
  expect(stored?.snapshot.config).toEqual(after);
  expect(stored?.used).toEqual([...quotaUsed, { tenantId: "t-b", resource: "gpu", used: 0 }]);
  const authz = await test_.sql`
    select tenant_id, owned, version from pool_authz where pool_id = ${pool.id} order by 1`;
  expect(authz.map((row) => ({ ...row }))).toEqual([
    { tenant_id: "t-b", owned: false, version: 2 },
    { tenant_id: "t-owner", owned: true, version: 2 },
  ]);
});

test("an archived pool is its owner's alone", async () => {
  await apply(pool.id, [configure({ ...pool, archivedAt: T0, version: 2 })]);
  const authz = await test_.sql`select tenant_id from pool_authz where pool_id = ${pool.id}`;
  expect(authz.map(({ tenant_id }) => tenant_id)).toEqual(["t-owner"]);
});

test("a sealed token is stored, kept when absent, and dropped when null", async () => {
  const token = async (): Promise<unknown> => {
    const [row] =
      await test_.sql`select kubernetes_token as token from pools where id = ${pool.id}`;
    return row?.["token"] && Uint8Array.from(row["token"] as Buffer);
  };
  await apply(pool.id, [configure(pool)], { secret: Uint8Array.of(0, 255, 7) });
  expect(await token()).toEqual(Uint8Array.of(0, 255, 7));
  await apply(pool.id, [configure(pool)]);
  expect(await token()).toEqual(Uint8Array.of(0, 255, 7));
  await apply(pool.id, [configure(pool)], { secret: null });
  expect(await token()).toBeNull();
});

test("capacity rows of a resource that no node has any more go away", async () => {
  const counts = { total: 1, allocatable: 1, allocated: 0, reserved: 0, available: 1 };
  const out = { provisioning: 0, unhealthy: 0, maintenance: 0, unreachable: 0 };
  const row = (resource: "gpu" | "disk") => ({ resource, ...counts, ...out });
  await apply(pool.id, [], { rollup: [row("gpu"), row("disk")] });
  await apply(pool.id, [put(node, { ...node, version: 2 })], { rollup: [row("gpu")] });
  expect((await store.stored(pool.id))?.rollup).toEqual([row("gpu")]);
});

test("and the last of them, with the last node; and one that a recount finds to be too many", async () => {
  const counts = { total: 1, allocatable: 1, allocated: 0, reserved: 0, available: 1 };
  const out = { provisioning: 0, unhealthy: 0, maintenance: 0, unreachable: 0 };
  const row = (resource: "gpu" | "disk") => ({ resource, ...counts, ...out });
  await apply(pool.id, [], { rollup: [row("gpu"), row("disk")] });
  await apply(pool.id, [configure(pool)], { rollup: [row("gpu")] });
  expect((await store.stored(pool.id))?.rollup).toEqual([row("gpu")]);
  await apply(pool.id, [put(node, { ...node, version: 2 })], { rollup: [] });
  expect((await store.stored(pool.id))?.rollup).toEqual([]);
});
