/** Unit reservations and bookings at random, held against rules written out unit by unit and term by term. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { UnitId } from "../ids.ts";
import type { UnitReservation } from "../claims.ts";
import type { Reservation } from "../model.ts";
import { HOUR, NOW, type TestTurn, nodeId, unitId } from "../reservations/test-kit.ts";
import { timeline } from "../timeline.ts";
import { createUnitReservation } from "./create.ts";
import { cancelUnitReservation } from "./end.ts";
import { planReclaim, reclaimUnits } from "./reclaim.ts";
import { releaseUnits } from "./release.ts";
import { reaffirmUnitReservation, reviewUnitReservations } from "./review.ts";
import { rollupFor } from "./rollup-for.ts";
import { PLATFORM, book, exactly, fencedTurn, of, termAskOf } from "./test-kit.ts";

const GPUS = 4;
const TENANTS = ["t-a", "t-b", "t-c"] as const;

type Step =
  | { kind: "reserve"; units: number[]; audience: string[]; start: number; length: number | null }
  | { kind: "book"; tenant: string; units: number[]; spot: boolean; start: number; length: number }
  | { kind: "release" | "reclaim"; which: number; units: number[] }
  | { kind: "cancel" | "reaffirm"; which: number }
  | { kind: "rewire" }
  | { kind: "wait"; hours: number };

const unitsArb = fc.uniqueArray(fc.nat(GPUS - 1), { minLength: 1, maxLength: 3 });
const startArb = fc.nat(8);
const lengthArb = fc.integer({ min: 1, max: 6 });
const whichArb = fc.nat(5);
const stepArb: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("reserve" as const),
      units: unitsArb,
      audience: fc.subarray([...TENANTS], { minLength: 1 }),
      start: startArb,
      length: fc.option(lengthArb),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("book" as const),
      tenant: fc.constantFrom(...TENANTS),
      units: unitsArb,
      spot: fc.boolean(),
      start: startArb,
      length: lengthArb,
    }),
  },
  fc.record({
    kind: fc.constantFrom("release" as const, "reclaim" as const),
    which: whichArb,
    units: unitsArb,
  }),
  fc.record({ kind: fc.constantFrom("cancel" as const, "reaffirm" as const), which: whichArb }),
  fc.record({ kind: fc.constant("rewire" as const) }),
  fc.record({ kind: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: 3 }) }),
);

interface Window {
  readonly start: number;
  readonly end: number;
}
const meet = (a: Window, b: Window) => a.start < b.end && b.start < a.end;
const termOf = ({ startsAt, endsAt }: UnitReservation): Window => ({
  start: startsAt,
  end: endsAt ?? Infinity,
});
const live = (turn: TestTurn): Reservation[] => [...turn.state.reservations()];
const fences = (turn: TestTurn): UnitReservation[] => [...turn.state.unitReservations()];
const holds = (reservation: Reservation, id: UnitId) =>
  reservation.members.some((member) => member.unitIds.includes(id));
const nth = (turn: TestTurn, which: number) => {
  const all = turn.state.unitReservationsOn(nodeId(0));
  return all[which % Math.max(1, all.length)];
};

/** The rule in words: inside a term of the unit, who may book it and how. */
function mayBook(turn: TestTurn, id: UnitId, ask: Window & { tenant: string; spot: boolean }) {
  return fences(turn)
    .filter((fence) => fence.unitIds.includes(id) && meet(termOf(fence), ask))
    .every((fence) => {
      if (fence.status === "needs-review") return false;
      if (fence.releasedUnitIds.includes(id)) return ask.spot;
      return fence.allowedOrgIds.includes(ask.tenant);
    });
}

function reserve(turn: TestTurn, step: Extract<Step, { kind: "reserve" }>): void {
  const startsAt = turn.now + step.start * HOUR;
  const endsAt = step.length === null ? null : startsAt + step.length * HOUR;
  const unitIds = step.units.map((at) => unitId(0, at));
  const allowedOrgIds = [...step.audience, PLATFORM];
  const term = { start: startsAt, end: endsAt ?? Infinity };
  const fenced = fences(turn).some(
    (fence) => meet(termOf(fence), term) && unitIds.some((id) => fence.unitIds.includes(id)),
  );
  const taken = live(turn).some(
    (one) =>
      meet(one, term) &&
      !allowedOrgIds.includes(one.tenantId) &&
      unitIds.some((id) => holds(one, id)),
  );
  const ask = termAskOf({ unitIds, allowedOrgIds, startsAt, endsAt });
  expect(createUnitReservation(turn, ask).ok).toBe(!fenced && !taken);
}

function tryBooking(turn: TestTurn, step: Extract<Step, { kind: "book" }>): void {
  const start = turn.now + step.start * HOUR;
  const ask = { ...step, start, end: start + step.length * HOUR };
  const unitIds = step.units.map((at) => unitId(0, at));
  const allowed = unitIds.every((id) => mayBook(turn, id, ask));
  const inTheWay = live(turn).filter(
    (one) => meet(one, ask) && unitIds.some((id) => holds(one, id)),
  );
  const made = book(turn, step.tenant, {
    ...exactly(unitIds),
    spot: step.spot,
    start,
    durationMs: ask.end - ask.start,
  });
  if (made.ok) {
    const window = { ...ask, start: made.value.start, end: made.value.end };
    expect(unitIds.every((id) => mayBook(turn, id, window))).toBe(true);
  }
  // Spot bookings may be given notice for the sake of a regular one: then it depends on more than this.
  const simple = step.spot || inTheWay.every(({ spot }) => !spot);
  if (simple) expect(made.ok).toBe(allowed && inTheWay.length === 0);
}

function reclaim(turn: TestTurn, fence: UnitReservation, units: readonly number[]): void {
  const unitIds = units.map((at) => unitId(0, at)).filter((id) => fence.unitIds.includes(id));
  if (unitIds.length === 0) return;
  const ask = { ...of(fence), unitIds };
  const before = live(turn);
  const shown = planReclaim(turn.state, ask);
  const done = reclaimUnits(turn, ask);
  if (!shown.ok || !done.ok) throw new Error("a standing one can always be reclaimed");
  expect(done.value.plan).toEqual(shown.value.plan);
  const released = unitIds.filter((id) => fence.releasedUnitIds.includes(id));
  const touched = before.filter(
    (one) => meet(one, termOf(fence)) && released.some((id) => holds(one, id)),
  );
  const idsOf = (spot: boolean) =>
    touched
      .filter((one) => one.spot === spot)
      .map(({ id }) => id)
      .toSorted();
  expect(done.value.plan).toEqual({ terminate: idsOf(true), skip: idsOf(false) });
  const gone = before.filter(({ id }) => !turn.state.reservation(id)).map(({ id }) => id);
  expect(gone.toSorted()).toEqual(idsOf(true));
}

function rewire(turn: TestTurn): void {
  const before = turn.state.node(nodeId(0));
  if (!before) throw new Error("the node is there");
  const after = { ...before, topologyGen: before.topologyGen + 1, version: before.version + 1 };
  turn.apply({ kind: "node", before, after });
  reviewUnitReservations(turn, before.id);
}

function take(turn: TestTurn, step: Step): void {
  if ("which" in step) return takeOn(turn, step);
  switch (step.kind) {
    case "reserve":
      return reserve(turn, step);
    case "book":
      return tryBooking(turn, step);
    case "rewire":
      return rewire(turn);
    case "wait":
      return turn.moveTo(turn.now + step.hours * HOUR);
  }
}

function takeOn(turn: TestTurn, step: Extract<Step, { which: number }>): void {
  const fence = nth(turn, step.which);
  if (!fence) return;
  switch (step.kind) {
    case "cancel":
      return void cancelUnitReservation(turn, of(fence));
    case "reaffirm":
      return void reaffirmUnitReservation(turn, of(fence));
    case "reclaim":
      return reclaim(turn, fence, step.units);
    case "release": {
      const unitIds = step.units.map((at) => unitId(0, at));
      const mine = unitIds.filter((id) => fence.unitIds.includes(id));
      return void releaseUnits(turn, { ...of(fence), unitIds: mine });
    }
  }
}

function checkTerms(turn: TestTurn): void {
  const all = fences(turn);
  for (const [at, a] of all.entries()) {
    expect(a.unitIds).toEqual(expect.arrayContaining([...a.releasedUnitIds]));
    for (const b of all.slice(at + 1))
      if (meet(termOf(a), termOf(b)))
        expect(a.unitIds.some((id) => b.unitIds.includes(id))).toBe(false);
  }
}

/** What a tenant reads, counted unit by unit. */
function checkReads(turn: TestTurn, tenant: string): void {
  const instant = { start: turn.now, end: turn.now + 1 };
  const counted = { allocated: 0, reserved: 0, available: 0 };
  let free = 0;
  for (let at = 0; at < GPUS; at += 1) {
    const id = unitId(0, at);
    const bookings = live(turn).filter((one) => holds(one, id));
    const open = mayBook(turn, id, { ...instant, tenant, spot: true });
    const [active, later] = open
      ? [bookings.some((b) => b.startedAt !== null), bookings.some((b) => b.startedAt === null)]
      : [false, true];
    counted.allocated += active ? 1 : 0;
    counted.reserved += later ? 1 : 0;
    free += 1 - (active ? 1 : 0) - (later ? 1 : 0);
  }
  counted.available = Math.max(0, free);
  const row = rollupFor(turn.state, { tenantId: tenant, now: turn.now }).find(
    ({ resource }) => resource === "gpu",
  );
  expect(row).toMatchObject({ total: GPUS, allocatable: GPUS, ...counted });
  expect(timeline(turn.state, hoursFrom(turn.now), tenant).buckets).toEqual(
    Array.from({ length: HOURS }, (_, hour) => {
      const start = turn.now + hour * HOUR;
      const booked = bookedIn(turn, { start, end: start + HOUR }, tenant);
      return { start, booked, free: GPUS - booked };
    }),
  );
}

const HOURS = 16;
const hoursFrom = (from: number) => ({ from, to: from + HOURS * HOUR, stepMinutes: 60 });

function bookedIn(turn: TestTurn, hour: Window, tenant: string): number {
  const ids = Array.from({ length: GPUS }, (_, at) => unitId(0, at));
  return ids.filter(
    (id) =>
      !mayBook(turn, id, { ...hour, tenant, spot: true }) ||
      live(turn).some((one) => holds(one, id) && meet(one, hour)),
  ).length;
}

it("nobody outside the audience gets a withheld unit, a dry run is the real call, and reads agree", () => {
  fc.assert(
    fc.property(fc.array(stepArb, { maxLength: 30 }), (steps) => {
      const turn = fencedTurn(GPUS);
      expect(turn.now).toBe(NOW);
      for (const step of steps) {
        take(turn, step);
        checkTerms(turn);
        for (const tenant of TENANTS) checkReads(turn, tenant);
      }
    }),
    { numRuns: 400 },
  );
});
