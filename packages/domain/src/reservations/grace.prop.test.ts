/** Outages and leases: what an outage may not end lives on, and nothing else gets longer. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Reservation } from "../model.ts";
import { type LeaseClock, type Outage, applyGrace } from "./grace.ts";
import { applyDue } from "./due.ts";
import { HOUR, NOW, type TestTurn, booking, gpuPool, turnOn, unitId } from "./test-kit.ts";

const SECOND = 1_000;
const GPUS = 6;

interface Leased {
  readonly leaseSeconds: number;
  /** From NOW, milliseconds. */
  readonly expires: number;
  readonly end: number;
}

const leased: fc.Arbitrary<Leased> = fc.record({
  leaseSeconds: fc.integer({ min: 30, max: 600 }),
  expires: fc.integer({ min: 1, max: 400 * SECOND }),
  end: fc.integer({ min: 1, max: 900 * SECOND }),
});
/** Lengths of the outages, each after a gap. */
const outagesArb: fc.Arbitrary<readonly Outage[]> = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 1, max: 100 * SECOND }),
      lasts: fc.integer({ min: 3 * SECOND, max: 200 * SECOND }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => {
    let at = NOW;
    return parts.map(({ gap, lasts }) => {
      const outage = { from: at + gap, to: at + gap + lasts };
      at = outage.to;
      return outage;
    });
  });
const leasesArb = fc.array(leased, { minLength: 1, maxLength: GPUS });

function rowOf({ leaseSeconds, expires, end }: Leased, at: number): Reservation {
  const row = booking({ start: NOW - HOUR, end: NOW + end, startedAt: NOW - HOUR });
  const [member] = row.members;
  return {
    ...row,
    id: `rsv_${String(at).padStart(26, "0")}`,
    state: "active",
    leaseSeconds,
    leaseExpiresAt: NOW + Math.min(expires, end),
    members: member ? [{ ...member, unitIds: [unitId(0, at)] }] : [],
  };
}

function graced(leases: readonly Leased[], clock: LeaseClock, now: number): TestTurn {
  const reservations = leases.map(rowOf);
  const turn = turnOn({ ...gpuPool(1, GPUS), reservations }, now);
  applyGrace(turn, clock);
  return turn;
}
const after = (outages: readonly Outage[]): number => outages.at(-1)?.to ?? NOW;
const leaseOf = (turn: TestTurn, at: number): number =>
  turn.state.reservation(rowOf({ leaseSeconds: 30, expires: 1, end: 1 }, at).id)?.leaseExpiresAt ??
  0;

test("a lease that was live when an outage began outlives it by 30 s and by half of itself, or to its end", () => {
  fc.assert(
    fc.property(leasesArb, outagesArb, (leases, outages) => {
      const turn = graced(leases, { outages, heldSince: null }, after(outages));
      for (const [at, lease] of leases.entries()) {
        const row = rowOf(lease, at);
        const before = row.leaseExpiresAt ?? 0;
        const raised = leaseOf(turn, at);
        // What it is owed, looked at one outage at a time: with what the ones before gave it.
        let owed = before;
        for (const { from, to } of outages)
          if (owed > from)
            for (const least of [to + 30 * SECOND, to + (lease.leaseSeconds * SECOND) / 2])
              owed = Math.max(owed, Math.min(least, row.end));
        expect(raised).toBe(owed);
        expect(raised).toBeLessThanOrEqual(Math.max(before, row.end));
      }
    }),
    { numRuns: 300 },
  );
});

test("after one outage, what was live and not over by then is live; what had lapsed before is over", () => {
  fc.assert(
    fc.property(leasesArb, outagesArb, (leases, [outage]) => {
      if (!outage) return;
      const now = outage.to + 29 * SECOND;
      const turn = graced(leases, { outages: [outage], heldSince: null }, now);
      applyDue(turn);
      for (const [at, lease] of leases.entries()) {
        const { id, end, leaseExpiresAt } = rowOf(lease, at);
        const live = turn.state.reservation(id) !== undefined;
        expect(live).toBe(end > now && (leaseExpiresAt ?? 0) > outage.from);
      }
    }),
    { numRuns: 300 },
  );
});

test("an outage cut in two by less than 30 s saves what the whole of it saves", () => {
  fc.assert(
    fc.property(
      leasesArb,
      outagesArb,
      fc.integer({ min: 1, max: 30 * SECOND - 1 }),
      (leases, [outage], gap) => {
        if (!outage || outage.to - outage.from < 3) return;
        const from = outage.from + gap + 1;
        const first = { from: outage.from, to: outage.from + 1 };
        const second = { from, to: Math.max(outage.to, from + 1) };
        const cut = graced(leases, { outages: [first, second], heldSince: null }, second.to);
        const merged = { from: first.from, to: second.to };
        const whole = graced(leases, { outages: [merged], heldSince: null }, second.to);
        for (const [at, lease] of leases.entries()) {
          const { end } = rowOf(lease, at);
          // One whose booking ends by then is over either way.
          if (end > second.to) expect(leaseOf(cut, at)).toBe(leaseOf(whole, at));
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("while the clock is not trusted nothing lapses that was live then, however often it is asked", () => {
  fc.assert(
    fc.property(
      leasesArb,
      fc.integer({ min: 0, max: 500 * SECOND }),
      fc.array(fc.integer({ min: 1, max: 200 * SECOND }), { minLength: 1, maxLength: 4 }),
      (leases, since, steps) => {
        const heldSince = NOW + since;
        const turn = graced(leases, { outages: [], heldSince }, heldSince);
        applyDue(turn);
        const held = [...turn.state.reservations()];
        for (const step of steps) {
          turn.now += step;
          applyGrace(turn, { outages: [], heldSince });
          applyDue(turn);
          const changes = turn.changes.length;
          applyGrace(turn, { outages: [], heldSince });
          expect(turn.changes.length).toBe(changes);
          expect(turn.state.nextDueAt() ?? Infinity).toBeGreaterThan(turn.now);
          for (const { id, end } of held)
            expect(turn.state.reservation(id) !== undefined).toBe(end > turn.now);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("nobody is told, and no version moves", () => {
  const outage = { from: NOW, to: NOW + 40 * SECOND };
  const lease = { leaseSeconds: 100, expires: 10 * SECOND, end: 600 * SECOND };
  const turn = graced([lease], { outages: [outage], heldSince: null }, outage.to);
  const [row] = turn.state.reservations();
  expect(row).toEqual({ ...rowOf(lease, 0), leaseExpiresAt: NOW + 90 * SECOND });
  expect(turn.takeEvents()).toEqual([]);
});
