import { setTimeout as delay } from "node:timers/promises";
import { type ReservationId, invariant, isLive } from "@berth/domain";
import { afterEach, describe, expect, test } from "vitest";
import { type Engine, createEngine } from "./engine.ts";
import { KeyTaken, Unavailable } from "./errors.ts";
import {
  type BookingWish,
  NOW,
  POOL,
  TENANTS,
  book,
  bookOrWait,
  nothing,
  release,
  storeWithPool,
} from "./testing/fixtures.ts";
import { type Fault, type MemoryStore, StoreError } from "./testing/memory-store.ts";
import { seeded } from "./testing/seeded.ts";
import type { EngineOptions } from "./types.ts";
import type { Waited } from "./waits.ts";

const HOUR = 3_600_000;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

const running: Engine[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((engine) => engine.stop()));
});

/** A server that is there: others learn of it with their next beat. */
function server(store: MemoryStore, seed: number, options: Partial<EngineOptions> = {}): Engine {
  const random = seeded(seed);
  const engine = createEngine({
    store,
    random: (count) => random.bytes(count),
    log: quiet,
    elapsed: () => performance.now(),
    options: { lifecycleMs: 20, rebuildMs: 0, beatMs: 10, ...options },
  });
  engine.start();
  running.push(engine);
  return engine;
}

const one = (tenantId: string, more: Partial<BookingWish> = {}): BookingWish => ({
  tenantId,
  gpus: 1,
  durationMs: HOUR,
  ...more,
});

async function held(engine: Engine, wish: BookingWish): Promise<ReservationId> {
  const { value } = await engine.submit(POOL, book(wish));
  invariant(value.ok, "there is room at first");
  return value.value.id;
}

interface Waiting {
  readonly id: ReservationId;
  readonly became: Promise<Waited>;
}

async function waiting(
  engine: Engine,
  wish: BookingWish,
  { timeoutMs = 20_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<Waiting> {
  const { serverId } = engine;
  const { value, seq } = await engine.submit(POOL, bookOrWait(wish, { timeoutMs, serverId }));
  invariant(value.ok && value.value.kind === "waits", "there is no room, so it waits");
  const { waiter } = value.value;
  return { id: waiter.id, became: engine.wait({ waiter, since: seq }, signal) };
}

const rowOf = (store: MemoryStore, id: ReservationId) =>
  store.gates.get(POOL)?.reservations.get(id)?.row;
const inLine = (store: MemoryStore) =>
  [...(store.gates.get(POOL)?.waiters.values() ?? [])].flatMap(({ waiter }) => waiter?.id ?? []);

describe("who waits for room", () => {
  test("gets what another server's release frees, in order of arrival on whichever server", async () => {
    const store = await storeWithPool(1, 1);
    const [a, b] = [server(store, 1), server(store, 2)];
    const first = await held(a, one("t-a"));
    const onB = await waiting(b, one("t-b"));
    store.clock += 200;
    const onA = await waiting(a, one("t-c"));
    await a.submit(POOL, release("t-a", first));
    expect(await onB.became).toBe("served");
    expect(rowOf(store, onB.id)).toMatchObject({ tenantId: "t-b", state: "active" });
    expect(inLine(store)).toEqual([onA.id]);
    await a.submit(POOL, release("t-b", onB.id));
    expect(await onA.became).toBe("served");
    expect(inLine(store)).toEqual([]);
  });

  test("comes before a newcomer, though the newcomer is in the very batch that frees the room", async () => {
    const store = await storeWithPool(1, 1);
    const a = server(store, 3);
    const first = await held(a, one("t-a"));
    const waits = await waiting(a, one("t-b"));
    const [, again] = await Promise.all([
      a.submit(POOL, release("t-a", first)),
      a.submit(POOL, book(one("t-a"))),
    ]);
    expect(again.value).toMatchObject({ ok: false, refusal: { code: "NO_CAPACITY" } });
    expect(await waits.became).toBe("served");
  });

  test("is passed over while it does not fit, and keeps its place", async () => {
    const store = await storeWithPool(1, 2);
    const a = server(store, 4);
    const [x, y] = [await held(a, one("t-a")), await held(a, one("t-a"))];
    const two = await waiting(a, one("t-b", { gpus: 2 }));
    store.clock += 1;
    const small = await waiting(a, one("t-c"));
    await a.submit(POOL, release("t-a", x));
    expect(await small.became).toBe("served");
    await a.submit(POOL, release("t-a", y));
    await a.submit(POOL, release("t-c", small.id));
    expect(await two.became).toBe("served");
  });

  test("and hangs up is out of the line at once: the room goes to the next one, its key stays free", async () => {
    const store = await storeWithPool(1, 1);
    const a = server(store, 5);
    const first = await held(a, one("t-a"));
    const hangUp = new AbortController();
    const gone = await waiting(a, one("t-b", { key: "gone" }), { signal: hangUp.signal });
    const next = await waiting(a, one("t-c"));
    hangUp.abort();
    await expect(gone.became).rejects.toThrow("went away");
    await expect.poll(() => inLine(store)).toEqual([next.id]);
    await a.submit(POOL, release("t-a", first));
    expect(await next.became).toBe("served");
    expect(rowOf(store, gone.id)).toBeUndefined();
    expect([...store.keys.values()]).toEqual([]);
  });

  test("and had hung up before it was in line gets nothing", async () => {
    const store = await storeWithPool(1, 1);
    const a = server(store, 6);
    await held(a, one("t-a"));
    const gone = await waiting(a, one("t-b"), { signal: AbortSignal.abort() });
    await expect(gone.became).rejects.toThrow("went away");
    await expect.poll(() => inLine(store)).toEqual([]);
  });

  test("gets nothing from its deadline on, to the millisecond", async () => {
    const store = await storeWithPool(1, 1);
    const a = server(store, 7, { lifecycleMs: 3_600_000 });
    const first = await held(a, one("t-a"));
    const late = await waiting(a, one("t-b"), { timeoutMs: 1_000 });
    const longer = await waiting(a, one("t-c"), { timeoutMs: 1_001 });
    store.clock = NOW + 1_000;
    await a.submit(POOL, release("t-a", first));
    expect(await late.became).toBe("over");
    expect(await longer.became).toBe("served");
    expect(rowOf(store, late.id)).toBeUndefined();
  });

  test("claims its key when it is served, and only then", async () => {
    const store = await storeWithPool(1, 1);
    const a = server(store, 8);
    const first = await held(a, one("t-a"));
    const waits = await waiting(a, one("t-b", { key: "k" }));
    expect([...store.keys.values()]).toEqual([]);
    await a.submit(POOL, release("t-a", first));
    await waits.became;
    expect([...store.keys.values()]).toMatchObject([{ key: "k", reservationId: waits.id }]);
    await a.submit(POOL, release("t-b", waits.id));
    await expect(a.submit(POOL, book(one("t-b", { key: "k" })))).rejects.toThrow(KeyTaken);
  });

  test("with one key twice is one reservation: the other one's wait is over", async () => {
    const store = await storeWithPool(1, 2);
    const a = server(store, 9);
    const first = await held(a, one("t-a", { gpus: 2 }));
    const twins = [
      await waiting(a, one("t-b", { key: "k" })),
      await waiting(a, one("t-b", { key: "k" })),
    ];
    await a.submit(POOL, release("t-a", first));
    expect(await Promise.all(twins.map(({ became }) => became))).toEqual(["served", "over"]);
    expect([...store.keys.values()]).toMatchObject([{ key: "k", reservationId: twins[0]?.id }]);
  });

  test("with a key that made another reservation meanwhile waits no more", async () => {
    const store = await storeWithPool(1, 1);
    const a = server(store, 10);
    const first = await held(a, one("t-a"));
    const waits = await waiting(a, one("t-b", { key: "k" }));
    const claim = { tenantId: "t-b", principal: "ci", key: "k", requestHash: "of another" };
    const reservationId: ReservationId = `rsv_${"9".repeat(26)}`;
    store.keys.set(JSON.stringify(["t-b", "ci", "k"]), { ...claim, reservationId });
    await a.submit(POOL, release("t-a", first));
    expect(await waits.became).toBe("over");
    expect(rowOf(store, waits.id)).toBeUndefined();
    expect(inLine(store)).toEqual([]);
    // The release itself was written all the same.
    expect(rowOf(store, first)?.state).toBe("released");
  });

  test("on a server that died is passed over, and its row goes with its deadline", async () => {
    const store = await storeWithPool(1, 1);
    const a = server(store, 11);
    const first = await held(a, one("t-a"));
    const lost = await a.submit(
      POOL,
      bookOrWait(one("t-b"), { timeoutMs: 10_000, serverId: "srv_dead" }),
    );
    expect(lost.value).toMatchObject({ ok: true, value: { kind: "waits" } });
    store.clock += 5_000;
    const next = await waiting(a, one("t-c"));
    await a.submit(POOL, release("t-a", first));
    expect(await next.became).toBe("served");
    store.clock += 5_000;
    await expect.poll(() => inLine(store)).toEqual([]);
  });

  test("is tried by its own server when the one that made room did not know of it", async () => {
    const store = await storeWithPool(1, 1);
    const a = server(store, 12, { beatMs: 0 });
    const b = server(store, 13);
    const first = await held(a, one("t-a"));
    const waits = await waiting(b, one("t-b"));
    store.clock += 5_000;
    await a.submit(POOL, release("t-a", first));
    expect(await waits.became).toBe("served");
  });

  test("is sent away when its server stops, and its row goes with it", async () => {
    const store = await storeWithPool(1, 1);
    const [a, b] = [server(store, 14), server(store, 15)];
    const first = await held(a, one("t-a"));
    const waits = await waiting(b, one("t-b"));
    const [became] = await Promise.allSettled([waits.became, b.endWaits()]);
    expect(became).toMatchObject({ status: "rejected", reason: expect.any(Unavailable) });
    expect(inLine(store)).toEqual([]);
    await a.submit(POOL, release("t-a", first));
    expect(rowOf(store, waits.id)).toBeUndefined();
  });

  test("hears that its server stops, not that there is no room, however long the answer to that takes", async () => {
    const store = await storeWithPool(1, 1);
    const a = server(store, 18);
    await held(a, one("t-a"));
    const waits = await waiting(a, one("t-b"));
    // The write that takes it away is there for everybody to see before this server has heard of it.
    const apply = store.apply.bind(store);
    store.apply = async (write, now) => {
      const outcome = await apply(write, now);
      await delay(300);
      return outcome;
    };
    const [became] = await Promise.allSettled([waits.became, a.endWaits()]);
    expect(became).toMatchObject({ status: "rejected", reason: expect.any(Unavailable) });
  });

  test("hears that the database cannot be asked once its time is over", async () => {
    const store = await storeWithPool(1, 1);
    const a = server(store, 16, { lifecycleMs: 3_600_000, beatMs: 0 });
    await held(a, one("t-a"));
    const waits = await waiting(a, one("t-b"), { timeoutMs: 10 });
    store.head = () => Promise.reject(new StoreError({ kind: "transient" }));
    await expect(waits.became).rejects.toThrow("cannot be reached");
  });

  test("at most a hundred a tenant and pool: one more is told so, another tenant is not", async () => {
    const store = await storeWithPool(1, 1);
    const a = server(store, 17);
    await held(a, one("t-a"));
    const { serverId } = a;
    const wait = (tenantId: string) =>
      a.submit(POOL, bookOrWait(one(tenantId), { timeoutMs: 20_000, serverId }));
    const asked = await Promise.all(Array.from({ length: 101 }, () => wait("t-b")));
    const refused = asked.filter(({ value }) => !value.ok);
    expect(refused.map(({ value }) => value)).toMatchObject([
      { ok: false, refusal: { code: "RATE_LIMITED" } },
    ]);
    expect((await wait("t-c")).value.ok).toBe(true);
  });
});

describe("two servers with callers who wait, hang up and ask again, and every kind of lost connection", () => {
  test.each(Array.from({ length: 15 }, (_, seed) => seed))(
    "seed %i: whoever was served has its booking, nobody else has, and the line is empty in the end",
    async (seed) => {
      const random = seeded(seed + 7);
      const store = await storeWithPool(1, 4);
      const faults: Fault[] = ["transient", "lost-before", "lost-after", "straggler"];
      store.fault = () =>
        random.next() < 0.15 ? (faults[random.below(faults.length)] ?? "none") : "none";
      const engines = [server(store, seed + 100), server(store, seed + 200)];
      const outcomes: { readonly key: string; readonly id: string | null }[] = [];

      const caller = async (name: string, own: ReturnType<typeof seeded>): Promise<void> => {
        for (let n = 0; n < 8; n += 1) {
          const tenantId = TENANTS[own.below(TENANTS.length)] ?? "t-a";
          const engine = engines[own.below(engines.length)] ?? engines[0];
          if (!engine) return;
          const key = `${name}-${n}`;
          const hangUp = new AbortController();
          if (own.next() < 0.3) setTimeout(() => hangUp.abort(), own.below(60));
          const wish = one(tenantId, { key, gpus: 1 + own.below(3) });
          const id = await asking(engine, wish, hangUp.signal).catch(() => null);
          outcomes.push({ key, id });
          if (id) await engine.submit(POOL, release(tenantId, id)).catch(() => undefined);
        }
      };
      // Time goes on when everybody waits.
      const time = setInterval(() => (store.clock += 100), 5);
      await Promise.all(
        ["a", "b", "c", "d", "e"].map((name, i) => caller(name, seeded(seed * 37 + i))),
      );
      clearInterval(time);
      store.fault = () => "none";
      for (const arrive of store.stragglers) arrive();
      store.clock += 5_000;
      for (const engine of engines) await engine.submit(POOL, nothing);

      const claims = [...store.keys.values()];
      const rows = [...(store.gates.get(POOL)?.reservations.values() ?? [])].map(({ row }) => row);
      expect(inLine(store)).toEqual([]);
      expect(claims.map(({ reservationId }) => reservationId).toSorted()).toEqual(
        rows.map(({ id }) => id).toSorted(),
      );
      for (const { key, id } of outcomes)
        if (id) expect(claims.find((c) => c.key === key)?.reservationId).toBe(id);
      for (const engine of engines) {
        const seen = await engine.read(POOL, (state) =>
          [...state.reservations()].map((r) => r.id).toSorted(),
        );
        expect(seen?.value).toEqual(
          rows
            .filter(({ state }) => isLive(state))
            .map(({ id }) => id)
            .toSorted(),
        );
        expect(await engine.rebuild(POOL)).toEqual([]);
      }
    },
  );
});

/** Books or waits; the id of what it got, null for nothing. */
async function asking(
  engine: Engine,
  wish: BookingWish,
  signal: AbortSignal,
): Promise<ReservationId | null> {
  const { serverId } = engine;
  const ask = { ...bookOrWait(wish, { timeoutMs: 2_000, serverId }), signal };
  const { value, seq } = await engine.submit(POOL, ask);
  if (!value.ok) return null;
  if (value.value.kind === "booked") return value.value.reservation.id;
  const { waiter } = value.value;
  return (await engine.wait({ waiter, since: seq }, signal)) === "served" ? waiter.id : null;
}
