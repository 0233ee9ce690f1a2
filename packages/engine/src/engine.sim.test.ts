import { type Reservation, isLive } from "@berth/domain";
import { describe, expect, test } from "vitest";
import { type Engine, createEngine } from "./engine.ts";
import { KeyTaken, Unavailable } from "./errors.ts";
import type { EngineObserver, EngineOptions } from "./types.ts";
import { NOW, POOL, TENANTS, book, nothing, release, storeWithPool } from "./testing/fixtures.ts";
import { type Fault, type MemoryStore, StoreError } from "./testing/memory-store.ts";
import { type Seeded, seeded } from "./testing/seeded.ts";

const HOUR = 3_600_000;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

function engineOn(
  store: MemoryStore,
  random: Seeded,
  more: { observer?: EngineObserver; options?: Partial<EngineOptions> } = {},
): Engine {
  return createEngine({
    store,
    random: (count) => random.bytes(count),
    log: quiet,
    elapsed: () => performance.now(),
    ...more,
  });
}

/** Every pair of live bookings of one unit, by brute force. */
function overlaps(rows: readonly Reservation[]): string[] {
  const found: string[] = [];
  const live = rows.filter(({ state }) => isLive(state));
  for (const [i, a] of live.entries())
    for (const b of live.slice(i + 1)) {
      if (a.start >= b.end || b.start >= a.end) continue;
      const units = new Set(a.members.flatMap(({ unitIds }) => unitIds));
      for (const unit of b.members.flatMap(({ unitIds }) => unitIds))
        if (units.has(unit)) found.push(`${unit}: ${a.id} and ${b.id}`);
    }
  return found;
}

function rowsOf(store: MemoryStore): Reservation[] {
  return [...(store.gates.get(POOL)?.reservations.values() ?? [])].map(({ row }) => row);
}

interface Acked {
  readonly key: string;
  readonly id: string;
}

/** One caller: books with a key, asks again until it has an answer, now and then releases. */
async function caller(engines: readonly Engine[], random: Seeded, name: string): Promise<Acked[]> {
  const acked: Acked[] = [];
  for (let n = 0; n < 12; n += 1) {
    const tenantId = TENANTS[random.below(TENANTS.length)] ?? "t-a";
    const key = `${name}-${n}`;
    const wish = book({
      tenantId,
      key,
      gpus: 1 + random.below(3),
      start: NOW + random.below(6) * HOUR,
      durationMs: HOUR + random.below(3) * HOUR,
    });
    for (let attempt = 0; attempt < 40; attempt += 1) {
      const engine = engines[random.below(engines.length)];
      try {
        const decided = await engine?.submit(POOL, wish);
        if (!decided?.value.ok) break;
        acked.push({ key, id: decided.value.value.id });
        if (random.next() < 0.3)
          await engine?.submit(POOL, release(tenantId, decided.value.value.id));
        break;
      } catch (error) {
        if (error instanceof KeyTaken) {
          acked.push({ key, id: error.claim.reservationId });
          break;
        }
        if (!(error instanceof Unavailable)) throw error;
      }
    }
  }
  return acked;
}

describe("two servers on one pool, with every kind of lost connection", () => {
  test.each(Array.from({ length: 25 }, (_, seed) => seed))(
    "seed %i: no unit twice, no key twice, no answer lost, caches equal the database",
    async (seed) => {
      const random = seeded(seed);
      const store = await storeWithPool(2, 4);
      const faults: Fault[] = ["transient", "lost-before", "lost-after", "straggler"];
      store.fault = () =>
        random.next() < 0.3 ? (faults[random.below(faults.length)] ?? "none") : "none";
      const engines = [
        engineOn(store, seeded(seed + 1_000)),
        engineOn(store, seeded(seed + 2_000)),
      ];
      const names = ["a", "b", "c", "d"];
      const answers = await Promise.all(
        names.map((name, i) => caller(engines, seeded(seed * 31 + i), name)),
      );
      // What lay in a dead connection's buffer arrives at last: it must find itself fenced off.
      const before = rowsOf(store).length;
      for (const arrive of store.stragglers) arrive();
      expect(rowsOf(store)).toHaveLength(before);

      const rows = rowsOf(store);
      const ids = new Set<string>(rows.map(({ id }) => id));
      expect(overlaps(rows)).toEqual([]);
      expect(answers.flat().filter(({ id }) => !ids.has(id))).toEqual([]);
      const claims = [...store.keys.values()];
      expect(claims).toHaveLength(rows.length);
      for (const { key, id } of answers.flat())
        expect(claims.find((claim) => claim.key === key)?.reservationId).toBe(id);

      store.fault = () => "none";
      const live = rows.filter(({ state }) => isLive(state)).map(({ id }) => id);
      for (const engine of engines) {
        const seen = await engine.read(POOL, (state) => ({
          live: [...state.reservations()].map(({ id }) => id),
          rollup: state.rollup(),
        }));
        expect(seen?.value.live.toSorted()).toEqual(live.toSorted());
        expect(await engine.rebuild(POOL)).toEqual([]);
      }
    },
  );
});

test("a state read while a write is under way is a committed one", async () => {
  const store = await storeWithPool(1, 4);
  const engine = engineOn(store, seeded(1));
  await engine.submit(POOL, nothing);
  const write = engine.submit(POOL, book({ tenantId: "t-a", gpus: 4, durationMs: HOUR }));
  const counts: number[] = [];
  const seqs: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    const seen = await engine.read(POOL, (state) => [...state.reservations()].length);
    counts.push(seen?.value ?? -1);
    seqs.push(seen?.seq ?? -1);
  }
  await write;
  for (const [i, count] of counts.entries()) expect(count).toBe((seqs[i] ?? 0) >= 2 ? 1 : 0);
});

test("a planner that keeps losing plans under the pool's lock and is served", async () => {
  const store = await storeWithPool(1, 4);
  let locked = 0;
  const engine = engineOn(store, seeded(2), { observer: { lockedPlan: () => (locked += 1) } });
  const apply = store.apply.bind(store);
  store.apply = () => Promise.resolve({ ok: false, kind: "stale", seq: -1 });
  const decided = await engine.submit(POOL, book({ tenantId: "t-a", gpus: 1, durationMs: HOUR }));
  store.apply = apply;
  expect(decided.value.ok).toBe(true);
  expect(locked).toBe(1);
  expect(rowsOf(store)).toHaveLength(1);
});

test.each(["committed", "rolled back"])(
  "a plan under the lock whose COMMIT was not answered is found out about: %s",
  async (became) => {
    const store = await storeWithPool(1, 4);
    const resolved: string[] = [];
    const engine = engineOn(store, seeded(13), {
      observer: { unknownOutcome: (outcome) => resolved.push(outcome) },
    });
    const [apply, locked] = [store.apply.bind(store), store.locked.bind(store)];
    store.apply = () => Promise.resolve({ ok: false, kind: "stale", seq: -1 });
    store.locked = async (gateId, work) => {
      [store.apply, store.locked] = [apply, locked];
      const undone = { ok: true, seq: 2 } as const;
      await locked(gateId, (gate) =>
        work(became === "committed" ? gate : { ...gate, apply: () => Promise.resolve(undone) }),
      );
      throw new StoreError({ kind: "unknown" });
    };
    const decided = await engine.submit(POOL, book({ tenantId: "t-a", gpus: 1, durationMs: HOUR }));
    expect(decided.value.ok).toBe(true);
    expect(resolved).toEqual([became === "committed" ? "committed" : "aborted"]);
    expect(rowsOf(store)).toHaveLength(1);
  },
);

test("a command that throws is answered alone; its neighbours in the batch are booked", async () => {
  const store = await storeWithPool(1, 4);
  const engine = engineOn(store, seeded(3));
  const broken = {
    name: "broken",
    tenantId: "t-b",
    plan: () => {
      throw new Error("a bug");
    },
  };
  const [a, b, c] = await Promise.allSettled([
    engine.submit(POOL, book({ tenantId: "t-a", gpus: 1, durationMs: HOUR })),
    engine.submit(POOL, broken),
    engine.submit(POOL, book({ tenantId: "t-c", gpus: 1, durationMs: HOUR })),
  ]);
  expect([a.status, b.status, c.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(rowsOf(store)).toHaveLength(2);
});

test("a batch that the database refuses is halved until the culprit is alone", async () => {
  const store = await storeWithPool(1, 8);
  const violations: string[] = [];
  const engine = engineOn(store, seeded(4), { observer: { violation: (s) => violations.push(s) } });
  const apply = store.apply.bind(store);
  store.apply = async (write, now) => {
    const poison = write.batch.changes.some(
      (change) => change.kind === "reservation" && change.after.tenantId === "t-b",
    );
    if (poison) throw new StoreError({ kind: "violation", sqlState: "23P01" });
    return apply(write, now);
  };
  const wishes = ["t-a", "t-b", "t-c", "t-a", "t-c"].map((tenantId) =>
    engine.submit(POOL, book({ tenantId, gpus: 1, durationMs: HOUR })),
  );
  const outcomes = (await Promise.allSettled(wishes)).map(({ status }) => status);
  expect(outcomes).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"]);
  expect(violations.length).toBeGreaterThan(0);
});

test("a command that was put back is decided once, whatever befalls the batch that it was to be in", async () => {
  const store = await storeWithPool(1, 8);
  // Every batch takes one command and puts the others back.
  const engine = engineOn(store, seeded(9), { options: { planSliceMs: -1 } });
  const apply = store.apply.bind(store);
  store.apply = async (write, now) => {
    const poison = write.batch.changes.some(
      (change) => change.kind === "reservation" && change.after.tenantId === "t-a",
    );
    if (poison) throw new StoreError({ kind: "violation", sqlState: "23P01" });
    return apply(write, now);
  };
  const wishes = ["t-a", "t-b", "t-c"].map((tenantId) =>
    engine.submit(POOL, book({ tenantId, gpus: 1, durationMs: HOUR })),
  );
  const outcomes = (await Promise.allSettled(wishes)).map(({ status }) => status);
  await engine.stop();
  expect(outcomes).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(rowsOf(store).map(({ tenantId }) => tenantId)).toEqual(["t-b", "t-c"]);
});

test("a caller that has gone before the decision gets nothing and books nothing", async () => {
  const store = await storeWithPool(1, 4);
  const engine = engineOn(store, seeded(5));
  const gone = AbortSignal.abort();
  const wish = engine.submit(
    POOL,
    book({ tenantId: "t-a", gpus: 1, durationMs: HOUR, signal: gone }),
  );
  await expect(wish).rejects.toThrow("went away");
  expect(rowsOf(store)).toHaveLength(0);
});

test("what is over is over at that instant, without a worker: its units are booked again at once", async () => {
  const store = await storeWithPool(1, 2);
  const engine = engineOn(store, seeded(6));
  const first = await engine.submit(POOL, book({ tenantId: "t-a", gpus: 2, durationMs: HOUR }));
  store.clock += HOUR - 1;
  const early = await engine.submit(POOL, book({ tenantId: "t-b", gpus: 2, durationMs: HOUR }));
  expect(early.value).toMatchObject({ ok: false, refusal: { code: "NO_CAPACITY" } });
  store.clock += 1;
  const next = await engine.submit(POOL, book({ tenantId: "t-b", gpus: 2, durationMs: HOUR }));
  expect(next.value).toMatchObject({ ok: true, value: { state: "active", start: NOW + HOUR } });
  expect(rowsOf(store)[0]).toMatchObject({ state: "completed", endedAt: NOW + HOUR });
  expect(first.value.ok).toBe(true);
});

test("the worker ends what is over in a pool that nobody asks about", async () => {
  const store = await storeWithPool(1, 2);
  const engine = engineOn(store, seeded(12), { options: { lifecycleMs: 5, rebuildMs: 0 } });
  await engine.submit(POOL, book({ tenantId: "t-a", gpus: 2, durationMs: HOUR }));
  engine.start();
  store.clock += HOUR;
  await expect.poll(() => rowsOf(store)[0]?.state).toBe("completed");
  await engine.stop();
  expect(rowsOf(store)[0]?.endedAt).toBe(NOW + HOUR);
});

test("a sliced read that the pool overtakes starts again and answers one state", async () => {
  const store = await storeWithPool(1, 4);
  const engine = engineOn(store, seeded(7));
  let starts = 0;
  const seen = await engine.read(POOL, function* (state) {
    starts += 1;
    const before = [...state.reservations()].length;
    const until = performance.now() + 8;
    if (starts === 1)
      void engine.submit(POOL, book({ tenantId: "t-a", gpus: 1, durationMs: HOUR }));
    while (performance.now() < until) yield;
    yield;
    return [before, [...state.reservations()].length];
  });
  expect(seen?.value[0]).toBe(seen?.value[1]);
});

test("the queue of one pool is bounded: one wish more is told so at once", async () => {
  const store = await storeWithPool(1, 4);
  const engine = engineOn(store, seeded(8), { options: { queueMax: 4 } });
  const wishes = Array.from({ length: 8 }, () => engine.submit(POOL, nothing));
  const outcomes = await Promise.allSettled(wishes);
  const refused = outcomes.filter(({ status }) => status === "rejected");
  expect(refused.length).toBeGreaterThan(0);
  for (const outcome of refused) expect(outcome).toMatchObject({ reason: { name: "Overloaded" } });
});

test("a stored row of a resource that no node has is found, and gone after the rebuild", async () => {
  const store = await storeWithPool(1, 2);
  const engine = engineOn(store, seeded(10));
  await engine.submit(POOL, book({ tenantId: "t-a", gpus: 1, durationMs: HOUR }));
  const gate = store.gates.get(POOL);
  const [row] = gate?.rollup ?? [];
  if (!gate || !row) throw new Error("the pool has rows");
  const surplus = { ...row, resource: "gpu.mig" as const };
  gate.rollup = [...gate.rollup, surplus];
  expect(await engine.rebuild(POOL)).toEqual([{ row: "gpu.mig", stored: surplus, counted: {} }]);
  expect(gate.rollup.map(({ resource }) => resource)).not.toContain("gpu.mig");
  expect(await engine.rebuild(POOL)).toEqual([]);
});

test("an engine that stops moves no node any more", async () => {
  const store = await storeWithPool(1, 2);
  const engine = engineOn(store, seeded(11));
  await engine.stop();
  const node = `node_${"0".repeat(26)}` as const;
  const plan = (): never => {
    throw new Error("planned all the same");
  };
  await expect(engine.move({ from: POOL, to: node, create: true, plan })).rejects.toThrow(
    Unavailable,
  );
});
