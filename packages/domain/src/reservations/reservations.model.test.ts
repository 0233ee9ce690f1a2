/**
 * Bookings held against a model that shares no code with them: a plain list, searched whole, time in
 * seconds. Whatever is done to a small pool, both say the same.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReservationId } from "../ids.ts";
import { TRANSITIONS, isLive } from "../lifecycle.ts";
import type { Reservation } from "../model.ts";
import type { Refusal, Result } from "../refusal.ts";
import { createReservation } from "./create.ts";
import { extendReservation } from "./extend.ts";
import { releaseReservation } from "./release.ts";
import { renewReservation } from "./renew.ts";
import { type TestTurn, gpuPool, gpus, turnOn } from "./test-kit.ts";

const SECOND = 1_000;
const EPOCH = 1_800_000_000;
const NODES = 2;
const GPUS = 3;
const QUOTA: Readonly<Record<string, number>> = { "t-a": 4, "t-b": 6 };
const SPAN = 60;

interface Booked {
  readonly id: ReservationId;
  readonly tenant: string;
  readonly units: readonly string[];
  readonly start: number;
  end: number;
  readonly leaseFor: number | null;
  lease: number | null;
  state: string;
  endedAt: number | null;
}

class Model {
  now = 0;
  readonly all: Booked[] = [];

  get live(): Booked[] {
    return this.all.filter((b) => ["scheduled", "active"].includes(b.state));
  }

  moveTo(now: number): void {
    this.now = now;
    for (const b of this.live) {
      const over = Math.min(b.end, b.lease ?? Number.POSITIVE_INFINITY);
      if (over <= now) {
        b.state = over < b.end ? "expired" : "completed";
        b.endedAt = over;
      } else if (b.start <= now) b.state = "active";
    }
  }

  used(tenant: string, at: number): number {
    return this.live
      .filter((b) => b.tenant === tenant && b.start <= at && at < b.end)
      .reduce((sum, b) => sum + b.units.length, 0);
  }

  overQuota(tenant: string, count: number, [start, end]: [number, number]): boolean {
    for (let t = start; t < end; t += 1)
      if (this.used(tenant, t) + count > (QUOTA[tenant] ?? 0)) return true;
    return false;
  }

  free(unit: string, [start, end]: [number, number]): boolean {
    return !this.live.some((b) => b.units.includes(unit) && b.start < end && b.end > start);
  }
}

type Step = (model: Model, turn: TestTurn) => void;

const unitNames = (turn: TestTurn): string[][] =>
  [...turn.state.nodes()].map((node) => node.units.map((unit) => unit.id));
const ms = (seconds: number): number => (EPOCH + seconds) * SECOND;
const code = (result: Result<unknown>): string => (result.ok ? "ok" : result.refusal.code);

const tenant = fc.constantFrom("t-a", "t-b");
const small = (max: number) => fc.integer({ min: 1, max });

interface Wish {
  readonly tenant: string;
  readonly count: number;
  readonly ahead: number;
  readonly lasts: number;
  readonly leaseFor: number | null;
}

function create(model: Model, turn: TestTurn, wish: Wish): void {
  const { tenant: by, count, ahead, lasts, leaseFor } = wish;
  const window: [number, number] = [model.now + ahead, model.now + ahead + lasts];
  const [start, end] = window;
  const result = createReservation(turn, {
    tenantId: by,
    ancestors: [],
    projectId: null,
    leaseSeconds: leaseFor,
    createdBy: "ci",
    shape: gpus(count, { start: ms(start), durationMs: lasts * SECOND }),
  });
  const nodes = unitNames(turn);
  const room = nodes.some((units) => units.filter((u) => model.free(u, window)).length >= count);
  const over = model.overQuota(by, count, window);
  expect(code(result)).toBe(over ? "QUOTA_EXCEEDED" : room ? "ok" : "NO_CAPACITY");
  if (!result.ok) return;
  const units = result.value.members.flatMap((member) => member.unitIds);
  expect(new Set(units).size).toBe(count);
  expect(nodes.some((of) => units.every((unit) => of.includes(unit)))).toBe(true);
  expect(units.filter((unit) => !model.free(unit, window))).toEqual([]);
  model.all.push({
    id: result.value.id,
    tenant: by,
    units,
    start,
    end,
    leaseFor,
    lease: leaseFor === null ? null : Math.min(start + leaseFor, end),
    state: ahead === 0 ? "active" : "scheduled",
    endedAt: null,
  });
}

const creating = fc
  .record({
    tenant,
    count: small(GPUS + 1),
    ahead: fc.integer({ min: 0, max: 12 }),
    lasts: small(12),
    leaseFor: fc.option(small(6), { freq: 2 }),
  })
  .map(
    (wish): Step =>
      (model, turn) =>
        create(model, turn, wish),
  );

const ask = ({ id, tenant: tenantId }: Booked) => ({ reservationId: id, tenantId });

/** Done to one of the reservations that were made, whatever became of it. */
const onOne = (change: (model: Model, turn: TestTurn, booked: Booked) => void) =>
  fc.nat({ max: 30 }).map((pick): Step => {
    return (model, turn) => {
      const booked = model.all[pick % Math.max(1, model.all.length)];
      if (booked) change(model, turn, booked);
    };
  });

function release(model: Model, turn: TestTurn, booked: Booked): void {
  const result = releaseReservation(turn, ask(booked));
  const wasLive = model.live.includes(booked);
  expect(result.ok && (result.value !== null) === wasLive).toBe(true);
  if (!wasLive) return;
  booked.state = "released";
  booked.endedAt = model.now;
}

function renew(model: Model, turn: TestTurn, booked: Booked): void {
  const before = booked.lease;
  const result = renewReservation(turn, ask(booked));
  if (!model.live.includes(booked) || before === null || booked.leaseFor === null) {
    expect(code(result)).toBe("INVALID_STATE");
    return;
  }
  if (booked.state === "active")
    booked.lease = Math.max(before, Math.min(model.now + booked.leaseFor, booked.end));
  expect(result.ok && result.value.leaseExpiresAt).toBe(ms(booked.lease ?? 0));
}

function extend(by: number): (model: Model, turn: TestTurn, booked: Booked) => void {
  return (model, turn, booked) => {
    const end = booked.end + by;
    const result = extendReservation(turn, { ...ask(booked), ancestors: [], end: ms(end) });
    const expected = extension(model, booked, end);
    expectSame(result, expected);
    if (!result.ok || by <= 0) return;
    booked.end = end;
    if (booked.leaseFor === null || booked.lease === null) return;
    const from = Math.max(model.now, booked.start);
    booked.lease = Math.max(booked.lease, Math.min(from + booked.leaseFor, end));
  };
}

function expectSame(result: Result<unknown>, expected: ReturnType<typeof extension>): void {
  expect(code(result)).toBe(expected.code);
  if (!result.ok) expect(latestEnd(result.refusal)).toBe(expected.latestEnd);
}

const releasing = onOne(release);
const renewing = onOne(renew);
const extending = fc.integer({ min: -2, max: 10 }).chain((by) => onOne(extend(by)));

function extension(
  model: Model,
  booked: Booked,
  end: number,
): { code: string; latestEnd?: number | undefined } {
  if (!model.live.includes(booked)) return { code: "INVALID_STATE" };
  if (end === booked.end) return { code: "ok" };
  if (end < booked.end) return { code: "INVALID_INPUT" };
  if (model.overQuota(booked.tenant, booked.units.length, [booked.end, end]))
    return { code: "QUOTA_EXCEEDED" };
  for (let t = booked.end; t < end; t += 1)
    if (!booked.units.every((unit) => model.free(unit, [t, t + 1])))
      return { code: "NO_CAPACITY", latestEnd: ms(t) };
  return { code: "ok" };
}

function latestEnd(refusal: Refusal): number | undefined {
  return refusal.code === "NO_CAPACITY" ? refusal.latestEnd : undefined;
}

const waiting = small(8).map((seconds): Step => {
  return (model, turn) => {
    model.moveTo(model.now + seconds);
    turn.moveTo(ms(model.now));
  };
});

/** What the turn has made of each reservation, ended ones too. */
function rows(turn: TestTurn): Map<string, Reservation> {
  const found = new Map<string, Reservation>();
  const illegal: string[] = [];
  for (const { kind, before, after } of turn.changes) {
    if (kind !== "reservation") continue;
    if (before && !legal(before, after)) illegal.push(`${before.state} to ${after.state}`);
    found.set(after.id, after);
  }
  expect(illegal).toEqual([]);
  return found;
}

function legal(before: Reservation, after: Reservation): boolean {
  const ways: readonly string[] = Object.values(TRANSITIONS[before.state]);
  return isLive(before.state) && (before.state === after.state || ways.includes(after.state));
}

function compare(model: Model, turn: TestTurn): void {
  const made = rows(turn);
  for (const booked of model.all)
    expect(made.get(booked.id)).toMatchObject({
      state: booked.state,
      start: ms(booked.start),
      end: ms(booked.end),
      leaseExpiresAt: booked.lease === null ? null : ms(booked.lease),
      endedAt: booked.endedAt === null ? null : ms(booked.endedAt),
    });
  expect([...turn.state.reservations()].map((r) => r.id).sort()).toEqual(
    model.live.map((b) => b.id).sort(),
  );
  for (const [by, max] of Object.entries(QUOTA)) {
    const seconds = Array.from({ length: SPAN }, (_, i) => model.now + i);
    const counted = seconds.map((t) => model.used(by, t));
    expect(seconds.map((t) => turn.state.usage(by, "gpu")?.at(ms(t)) ?? 0)).toEqual(counted);
    expect(Math.max(...counted)).toBeLessThanOrEqual(max);
  }
}

describe("bookings of a pool, whatever is done to it", () => {
  const step = fc.oneof(
    { arbitrary: creating, weight: 5 },
    { arbitrary: waiting, weight: 2 },
    { arbitrary: extending, weight: 3 },
    { arbitrary: renewing, weight: 2 },
    { arbitrary: releasing, weight: 1 },
  );

  it("agree with the model: refusals, units, states, ends, leases, quota at every second", () => {
    const quotas = Object.entries(QUOTA).map(([tenantId, max]) => ({
      tenantId,
      resource: "gpu",
      max,
    }));
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        const model = new Model();
        const turn = turnOn(gpuPool(NODES, GPUS, { quotas }), ms(0));
        for (const act of steps) {
          act(model, turn);
          compare(model, turn);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("are taken back exactly: reverting every change gives the pool as it was", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        const model = new Model();
        const quotas = Object.entries(QUOTA).map(([tenantId, max]) => ({
          tenantId,
          resource: "gpu",
          max,
        }));
        const turn = turnOn(gpuPool(NODES, GPUS, { quotas }), ms(0));
        const before = turn.state.rollup();
        for (const act of steps) act(model, turn);
        for (const change of turn.changes.toReversed()) turn.state.revert(change);
        expect(turn.state.rollup()).toEqual(before);
        expect([...turn.state.reservations()]).toEqual([]);
        expect(turn.state.nextDueAt()).toBeNull();
        expect(turn.state.usage("t-a", "gpu")?.peakFrom(0) ?? 0).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
