/** Unit reservations and their terms through the gate: what overlaps is decided by the database. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Change, GateId, Node, PoolConfig, UnitReservation } from "@berth/domain";
import type { Database } from "../database.ts";
import { sqlState } from "../errors.ts";
import { HOUR, T0, batchOf, fenceOf, nodeOf, poolOf, unitOf } from "../testing/fixtures.ts";
import { type TestDatabase, seedPool } from "../testing/index.ts";
import { type StoreRoom, openRoom } from "./test-kit.ts";
import type { ApplyOutcome, PoolStore } from "./types.ts";

let room: StoreRoom;
let test_: TestDatabase;
let db: Database;
let store: PoolStore;
let count = 0;
let batches = 0;
let pool: PoolConfig;
let node: Node;

beforeAll(async () => {
  room = await openRoom(2);
  ({ database: test_, db, store } = room);
});
afterAll(() => room.close());
beforeEach(async () => {
  count += 1;
  pool = poolOf(count);
  node = nodeOf(count);
  await seedPool(db, { config: pool, nodes: [node] });
});

function batch(changes: readonly Change[]) {
  batches += 1;
  return batchOf(`u${batches}`, { changes });
}
async function apply(gateId: GateId, ...changes: Change[]): Promise<ApplyOutcome> {
  const expectedSeq = (await store.head(gateId))?.seq ?? 0;
  return store.apply({ gateId, expectedSeq, batch: batch(changes) }, T0);
}
function fence(n: string, change: Parameters<typeof fenceOf>[2] = {}): UnitReservation {
  return fenceOf(`${count}${n}`, node, change);
}
const put = (before: UnitReservation | null, after: UnitReservation | null): Change => ({
  kind: "unitReservation",
  before,
  after,
});
async function termsOf({ id }: UnitReservation) {
  const rows = await test_.sql<{ unit: string; start: number; end: number | null }[]>`
    select u.id as unit, lower(t.during) as start, upper(t.during) as end
    from unit_terms t join units u on u.key = t.unit_key
    where t.unit_reservation_id = ${id} order by u.index`;
  return rows.map((row) => ({ ...row }));
}
async function fencesOf(gateId: GateId) {
  return (await store.load(gateId))?.snapshot.unitReservations;
}

test("one comes back as it was written, with a term a unit; without an end the terms have none", async () => {
  const bounded = fence("1", { units: [0, 1], managingOrgIds: [] });
  const open = fence("2", { units: [2], endsAt: null, releasedUnitIds: [node.units[2]!.id] });
  await apply(pool.id, put(null, bounded), put(null, open));
  expect(await fencesOf(pool.id)).toEqual([bounded, open]);
  expect(await termsOf(bounded)).toEqual(
    bounded.unitIds.map((unit) => ({ unit, start: T0, end: T0 + HOUR })),
  );
  expect(await termsOf(open)).toEqual([{ unit: open.unitIds[0], start: T0, end: null }]);
});

test("a term that overlaps a live one is refused with its units, and nothing of the batch is written", async () => {
  const first = fence("1", { units: [0, 1, 2] });
  await apply(pool.id, put(null, first));
  const second = fence("2", { units: [1, 2, 3], startsAt: T0 + HOUR - 1, endsAt: null });
  expect(await apply(pool.id, put(null, second))).toEqual({
    ok: false,
    kind: "fenced",
    unitIds: [node.units[1]?.id, node.units[2]?.id],
  });
  expect(await fencesOf(pool.id)).toEqual([first]);
  expect((await store.head(pool.id))?.seq).toBe(2);
  const after = { ...second, startsAt: T0 + HOUR };
  expect((await apply(pool.id, put(null, after))).ok).toBe(true);
});

test("two terms that overlap within one batch are stopped by the constraint", async () => {
  const twins = [fence("1"), fence("2", { startsAt: T0 + 1 })];
  const failure = await apply(pool.id, ...twins.map((one) => put(null, one))).catch(
    (error: unknown) => error,
  );
  expect(sqlState(failure)).toBe("23P01");
  expect(await fencesOf(pool.id)).toEqual([]);
});

test("one that ends gives its units back in the same batch, and is told to followers as ended", async () => {
  const first = fence("1");
  await apply(pool.id, put(null, first));
  const since = await store.head(pool.id);
  const over = { ...first, status: "cancelled" as const, endedAt: T0 };
  const next = fence("2");
  expect((await apply(pool.id, put(null, next), put(first, over))).ok).toBe(true);
  expect(await termsOf(first)).toEqual([]);
  expect(await termsOf(next)).toHaveLength(1);
  const delta = since && (await store.delta(pool.id, since));
  expect(delta?.unitReservations).toEqual([over, next]);
  expect(await fencesOf(pool.id)).toEqual([next]);
});

test("a release and a review leave the terms as they are", async () => {
  const first = fence("1", { units: [0, 1] });
  await apply(pool.id, put(null, first));
  const terms = await termsOf(first);
  const released = { ...first, releasedUnitIds: first.unitIds.slice(0, 1) };
  await apply(pool.id, put(first, released));
  await apply(pool.id, put(released, { ...released, status: "needs-review", topologyGen: 1 }));
  expect(await termsOf(first)).toEqual(terms);
});

test("a node that moves takes its live unit reservations along, in the same write", async () => {
  const alone = nodeOf(count + 50_000);
  await apply(alone.id, { kind: "node", before: null, after: alone });
  const ring = fenceOf(`${count}9`, alone, { units: [0, 1] });
  const old = fenceOf(`${count}8`, alone, { units: [0] });
  const ended = { ...old, status: "expired" as const, endedAt: T0 };
  await apply(alone.id, put(null, ended));
  await apply(alone.id, put(null, ring));
  const from = (await store.head(alone.id))?.seq ?? 0;
  const since = await store.head(pool.id);
  const outcome = await store.applyPair(
    {
      gateId: alone.id,
      expectedSeq: from,
      batch: batch([{ kind: "node", before: alone, after: null }, put(ring, null)]),
    },
    {
      gateId: pool.id,
      expectedSeq: since?.seq ?? 0,
      batch: batch([
        { kind: "node", before: null, after: { ...alone, version: 2 } },
        put(null, ring),
      ]),
    },
    T0,
  );
  expect(outcome.ok).toBe(true);
  expect(await fencesOf(alone.id)).toEqual([]);
  expect(await fencesOf(pool.id)).toEqual([ring]);
  const delta = since && (await store.delta(pool.id, since));
  expect(delta?.unitReservations).toEqual([ring]);
  expect(await termsOf(ring)).toHaveLength(2);
  const [stays] = await test_.sql`select gate_id from unit_reservations where id = ${ended.id}`;
  expect(stays?.["gate_id"]).toBe(alone.id);
});

test("one of a node of another gate is refused as the bug that it is", async () => {
  const other = poolOf(count + 60_000);
  await seedPool(db, { config: other, nodes: [] });
  await expect(apply(other.id, put(null, fence("1")))).rejects.toMatchObject({ code: "BG002" });
});

test("a GPU that carries what is booked keeps its key, and is neither booked nor ring-fenced", async () => {
  const keys = async () => {
    const rows = await test_.sql`
      select id, key, carrier from units where node_id = ${node.id} and class = 'gpu' order by index`;
    return rows.map((row) => ({ ...row }));
  };
  const before = await keys();
  const gpus = node.units.slice(0, 2).map((gpu) => ({
    ...gpu,
    migProfiles: [{ profile: "1g.10gb", size: 1, starts: [0, 1] }],
  }));
  const instance = unitOf(node.id, 90, {
    class: "gpu.mig",
    profile: "1g.10gb",
    placement: 6,
    gpuUuid: null,
    parentUnitId: gpus[0]?.id ?? null,
  });
  const shared: Node = { ...node, gpus, units: [instance], version: 2 };
  await apply(pool.id, { kind: "node", before: node, after: shared });
  const [stored] = (await store.load(pool.id))?.snapshot.nodes ?? [];
  const keyed = (units: readonly { readonly id: string }[]) => units.map(({ id }) => id);
  expect(stored?.gpus).toEqual(gpus.map((gpu, i) => ({ ...gpu, key: before[i]?.["key"] })));
  expect(keyed(stored?.units ?? [])).toEqual([instance.id]);
  expect((await keys()).slice(0, 2)).toEqual(
    before.slice(0, 2).map((row) => ({ ...row, carrier: true })),
  );
  await expect(apply(pool.id, put(null, fence("1")))).rejects.toMatchObject({ code: "23502" });
  const back: Node = { ...node, version: 3 };
  await apply(pool.id, { kind: "node", before: shared, after: back });
  expect(await keys()).toEqual(before);
});
