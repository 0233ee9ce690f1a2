import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Waiter, WaiterKey } from "../claims.ts";
import type { Reservation } from "../model.ts";
import { useFreed } from "./freed.ts";
import { releaseReservation } from "./release.ts";
import type { BookingShape } from "./request.ts";
import {
  HOUR,
  MINUTE,
  NOW,
  type TestTurn,
  accepted,
  booking,
  gpuPool,
  gpus,
  poolConfig,
  refused,
  turnOn,
} from "./test-kit.ts";
import { WAITERS_MAX, createOrWait, serveWaiters, stopWaitingWith } from "./waiters.ts";

interface Ask {
  readonly tenantId?: string;
  readonly shape?: BookingShape;
  readonly timeoutMs?: number;
  readonly serverId?: string;
  readonly key?: WaiterKey | null;
}

function ask(turn: TurnLike, given: Ask = {}) {
  const { tenantId = "t-a", shape = gpus(1), timeoutMs = 20_000, serverId = "s" } = given;
  return createOrWait(
    turn,
    { tenantId, ancestors: [], shape, projectId: null, leaseSeconds: null, createdBy: "ci" },
    { timeoutMs, serverId, key: given.key ?? null },
  );
}
type TurnLike = TestTurn;

function waits(turn: TestTurn, given: Ask = {}): Waiter {
  const asked = accepted(ask(turn, given));
  if (asked.kind !== "waits") throw new Error("it was booked");
  return asked.waiter;
}

/** One node, all of whose GPUs one booking holds. */
function full(count: number, config = poolConfig()): { turn: TestTurn; holder: Reservation } {
  const turn = turnOn(gpuPool(1, count, config));
  const holder = booking({ id: `rsv_${"h".repeat(26)}`, tenantId: "t-own", gpus: count });
  turn.apply({ kind: "reservation", before: null, after: holder });
  turn.takeFreed();
  return { turn, holder };
}

function free(turn: TestTurn, { id, tenantId }: Reservation): void {
  accepted(releaseReservation(turn, { reservationId: id, tenantId }));
  useFreed(turn);
}

const served = (turn: TestTurn): string[] =>
  turn.changes.flatMap((c) =>
    c.kind === "reservation" && c.before === null && c.after.createdBy === "ci" ? c.after.id : [],
  );

describe("a request that may wait", () => {
  it("is booked when it fits, and waits for want of room alone", () => {
    const turn = turnOn(gpuPool(1, 1));
    expect(accepted(ask(turn)).kind).toBe("booked");
    const waiter = waits(turn, { tenantId: "t-b" });
    expect(waiter).toMatchObject({
      since: NOW,
      deadline: NOW + 20_000,
      priority: 0,
      serverId: "s",
    });
    expect(turn.state.waiting.all()).toEqual([waiter]);
    expect(refused(ask(turn, { timeoutMs: 0 })).code).toBe("NO_CAPACITY");
    const quotas = [{ tenantId: "t-c", resource: "gpu", max: 0 }];
    expect(refused(ask(full(1, poolConfig({ quotas })).turn, { tenantId: "t-c" })).code).toBe(
      "QUOTA_EXCEEDED",
    );
  });

  it("has the priority of the offer that it books under, the owner its own or none", () => {
    const offers = [
      { tenantId: "t-a", includeDescendants: true, priority: 7 },
      { tenantId: "t-b", includeDescendants: false, priority: 3 },
    ];
    const row = (tenantId: string) => ({ tenantId, resource: "gpu", max: 9 });
    const quotas = ["t-a", "t-b", "t-own"].map(row);
    const { turn } = full(1, poolConfig({ offers, quotas }));
    expect(waits(turn, { tenantId: "t-b" }).priority).toBe(3);
    expect(waits(turn, { tenantId: "t-own" }).priority).toBe(0);
    const below = createOrWait(
      turn,
      {
        tenantId: "t-leaf",
        ancestors: ["t-a"],
        shape: gpus(1),
        projectId: null,
        leaseSeconds: null,
        createdBy: "ci",
      },
      { timeoutMs: 1, serverId: "s", key: null },
    );
    expect(accepted(below)).toMatchObject({ kind: "waits", waiter: { priority: 7 } });
  });

  it("is refused when as many of its tenant wait as may", () => {
    const { turn } = full(1);
    for (let n = 0; n < WAITERS_MAX; n += 1) waits(turn);
    expect(refused(ask(turn)).code).toBe("RATE_LIMITED");
    expect(waits(turn, { tenantId: "t-b" }).tenantId).toBe("t-b");
  });

  it("tells nobody to go while room comes anyway, and does when others have booked that", () => {
    const turn = turnOn(gpuPool(1, 2));
    accepted(ask(turn, { shape: gpus(1, { durationMs: MINUTE }) }));
    accepted(ask(turn, { shape: gpus(1, { spot: true, durationMs: 4 * HOUR }) }));
    const waiter = waits(turn, { tenantId: "t-b" });
    useFreed(turn);
    expect(turn.state.reservation(waiter.id)).toBeUndefined();
    accepted(ask(turn, { tenantId: "t-c", shape: gpus(1, { start: NOW + 2 * MINUTE }) }));
    useFreed(turn);
    expect(turn.state.reservation(waiter.id)).toMatchObject({ start: NOW + 2 * MINUTE });
    expect(turn.takeEvents()).toContain("reservation.preempting");
  });
});

describe("what was freed", () => {
  it("is booked under the id that the waiter was promised, its event told, its row gone", () => {
    const { turn, holder } = full(1);
    const waiter = waits(turn);
    turn.takeEvents();
    turn.now += 500;
    free(turn, holder);
    expect(turn.state.reservation(waiter.id)).toMatchObject({
      state: "active",
      start: NOW + 500,
      end: NOW + 500 + HOUR,
      createdAt: NOW + 500,
    });
    expect(turn.takeEvents()).toEqual(["reservation.released", "reservation.created"]);
    expect(turn.state.waiting.size).toBe(0);
  });

  it("goes to nobody whose time is over, whose server has gone, or who has hung up", () => {
    const { turn, holder } = full(3);
    waits(turn, { timeoutMs: 6_000 });
    waits(turn, { serverId: "dead" });
    const gone = waits(turn, { key: { principal: "ci", key: "k", requestHash: "h" } });
    stopWaitingWith(turn, { tenantId: "t-a", principal: "ci", key: "k" });
    turn.gone.add("dead");
    turn.now = NOW + 6_000;
    free(turn, holder);
    expect(served(turn)).toEqual([]);
    expect(turn.state.waiting.get(gone.id)).toBeUndefined();
  });

  it("goes to one on a server that nobody knows yet, while its waiter is fresh", () => {
    const { turn, holder } = full(1);
    const waiter = waits(turn, { serverId: "new" });
    turn.gone.add("new");
    turn.now = NOW + 4_999;
    free(turn, holder);
    expect(served(turn)).toEqual([waiter.id]);
  });

  it("goes once to a key, however many wait with it", () => {
    const { turn, holder } = full(2);
    const key = { principal: "ci", key: "k", requestHash: "h" };
    const [first] = [waits(turn, { key }), waits(turn, { key })];
    const others = waits(turn, { key: { ...key, principal: "else" } });
    free(turn, holder);
    expect(served(turn).toSorted()).toEqual([first.id, others.id].toSorted());
    expect(turn.state.waiting.size).toBe(0);
  });

  it("lets one over its quota wait on, and sends one away that does not see the pool any more", () => {
    const { turn, holder } = full(2);
    const [over, hidden] = [waits(turn), waits(turn, { tenantId: "t-b" })];
    const before = turn.state.config;
    if (!before) throw new Error("a pool");
    const after = {
      ...before,
      quotas: before.quotas.map((row) => (row.tenantId === "t-a" ? { ...row, max: 0 } : row)),
      offers: before.offers.filter(({ tenantId }) => tenantId !== "t-b"),
    };
    turn.apply({ kind: "config", before, after });
    free(turn, holder);
    expect(served(turn)).toEqual([]);
    expect(turn.state.waiting.all().map(({ id }) => id)).toEqual([over.id]);
    expect(turn.state.waiting.get(hidden.id)).toBeUndefined();
  });

  it("is served to whoever fits in the order of priority, then arrival, as one after the other would be", () => {
    const waiter = fc.record({
      tenantId: fc.constantFrom("t-a", "t-b", "t-c"),
      wanted: fc.integer({ min: 1, max: 4 }),
      since: fc.integer({ min: 0, max: 3 }),
      gone: fc.boolean(),
    });
    const priorities = fc.record({
      "t-a": fc.integer({ min: 0, max: 2 }),
      "t-b": fc.integer({ min: 0, max: 2 }),
      "t-c": fc.integer({ min: 0, max: 2 }),
    });
    fc.assert(
      fc.property(
        fc.array(waiter, { maxLength: 12 }),
        priorities,
        fc.integer({ min: 1, max: 8 }),
        fc.record({ "t-a": fc.nat(4), "t-b": fc.nat(8), "t-c": fc.nat(8) }),
        (line, priority, count, quota) => {
          const tenants = ["t-a", "t-b", "t-c"] as const;
          const { turn, holder } = full(
            count,
            poolConfig({
              offers: tenants.map((tenantId) => ({
                tenantId,
                includeDescendants: false,
                priority: priority[tenantId],
              })),
              quotas: tenants.map((tenantId) => ({
                tenantId,
                resource: "gpu",
                max: quota[tenantId],
              })),
            }),
          );
          turn.gone.add("dead");
          const model: { id: string; tenant: keyof typeof quota; rank: number[]; want: number }[] =
            [];
          for (const [at, { tenantId, wanted, since, gone }] of line.entries()) {
            const tenant = tenantId as keyof typeof quota;
            turn.now = NOW + since;
            const asked = ask(turn, {
              tenantId,
              shape: gpus(wanted),
              serverId: gone ? "dead" : "s",
            });
            if (!asked.ok || asked.value.kind !== "waits") continue;
            const { id } = asked.value.waiter;
            if (gone) continue;
            model.push({ id, tenant, rank: [-priority[tenant], since, at], want: wanted });
          }
          turn.now = NOW + 10_000;
          free(turn, holder);

          let room = count;
          const used = { "t-a": 0, "t-b": 0, "t-c": 0 };
          const expected: string[] = [];
          model.sort((a, b) => {
            for (const i of [0, 1]) {
              const step = (a.rank[i] ?? 0) - (b.rank[i] ?? 0);
              if (step !== 0) return step;
            }
            return a.id < b.id ? -1 : 1;
          });
          for (const { id, tenant, want } of model) {
            if (want > room || used[tenant] + want > quota[tenant]) continue;
            room -= want;
            used[tenant] += want;
            expected.push(id);
          }
          expect(served(turn)).toEqual(expected);
          // A second look at the same room changes nothing.
          const changes = turn.changes.length;
          serveWaiters(turn);
          expect(turn.changes).toHaveLength(changes);
        },
      ),
    );
  });
});
