import { describe, expect, it } from "vitest";
import type { PoolConfig, Reservation } from "../model.ts";
import { type ExtendAsk, extendReservation, extendedReservation } from "./extend.ts";
import {
  HOUR,
  MINUTE,
  NOW,
  type TestTurn,
  accepted,
  booking,
  gpuPool,
  refused,
  turnOn,
} from "./test-kit.ts";

const A = "rsv_0000000000000000000000000a";
const B = "rsv_0000000000000000000000000b";
const DAY = 24 * HOUR;

function holding(given: Partial<Reservation> = {}, config: Partial<PoolConfig> = {}): TestTurn {
  const turn = turnOn(gpuPool(1, 1, config));
  turn.apply({ kind: "reservation", before: null, after: booking({ id: A, ...given }) });
  return turn;
}

const ask = (end: number, given: Partial<ExtendAsk> = {}): ExtendAsk => ({
  reservationId: A,
  tenantId: "t-a",
  ancestors: [],
  end,
  ...given,
});

function bookAfter(turn: TestTurn): void {
  const theirs = { id: B, tenantId: "t-b", start: NOW + HOUR, end: NOW + 2 * HOUR } as const;
  turn.apply({ kind: "reservation", before: null, after: booking(theirs) });
}

describe("extend", () => {
  it("moves the end on the same units, and the warning with it", () => {
    const turn = holding({ endingSoonAt: NOW + 54 * MINUTE });
    const before = turn.state.reservation(A);
    expect(accepted(extendReservation(turn, ask(NOW + 2 * HOUR)))).toMatchObject({
      end: NOW + 2 * HOUR,
      endingSoonAt: NOW + 108 * MINUTE,
      version: 2,
      members: before?.members,
    });
    expect(turn.takeEvents()).toEqual(["reservation.extended"]);
  });

  it("does not warn again of an end when that moment has passed for the new one as well", () => {
    const turn = holding();
    turn.moveTo(NOW + 59 * MINUTE);
    expect(accepted(extendReservation(turn, ask(NOW + 61 * MINUTE))).endingSoonAt).toBeNull();
    expect(accepted(extendReservation(turn, ask(NOW + 10 * HOUR))).endingSoonAt).toBe(
      NOW + 9.5 * HOUR,
    );
  });

  it("into another's booking is refused, says how far it could go, and changes nothing", () => {
    const turn = holding();
    bookAfter(turn);
    const refusal = refused(extendReservation(turn, ask(NOW + 1.5 * HOUR)));
    expect(refusal).toMatchObject({ code: "NO_CAPACITY", latestEnd: NOW + HOUR });
    expect(refusal.code === "NO_CAPACITY" && refusal.reason.message).not.toMatch(/t-b|rsv_/);
    expect(turn.state.reservation(A)).toMatchObject({ end: NOW + HOUR, version: 1 });
    expect(turn.takeEvents()).toEqual([]);
  });

  it("to the present end is answered unchanged, with another right behind", () => {
    const turn = holding();
    bookAfter(turn);
    expect(accepted(extendReservation(turn, ask(NOW + HOUR)))).toMatchObject({ version: 1 });
    expect(turn.takeEvents()).toEqual([]);
  });

  it("to an earlier end is INVALID_INPUT", () => {
    expect(refused(extendReservation(holding(), ask(NOW + HOUR - 1)))).toMatchObject({
      code: "INVALID_INPUT",
      issues: [{ path: ["end"] }],
    });
  });

  it("counts the whole length against maxDuration", () => {
    const turn = holding({}, { policy: { maxDuration: "2h" } });
    accepted(extendReservation(turn, ask(NOW + 2 * HOUR)));
    expect(refused(extendReservation(turn, ask(NOW + 2 * HOUR + 1))).code).toBe("INVALID_INPUT");
  });

  it("counts what is added against the quota, not itself twice", () => {
    const quotas = [{ tenantId: "t-a", resource: "gpu", max: 1 }];
    const turn = turnOn(gpuPool(2, 1, { quotas }));
    turn.apply({ kind: "reservation", before: null, after: booking({ id: A }) });
    accepted(extendReservation(turn, ask(NOW + 2 * HOUR)));
    const other = { id: B, onNode: 1, start: NOW + 3 * HOUR, end: NOW + 4 * HOUR } as const;
    turn.apply({ kind: "reservation", before: null, after: booking(other) });
    accepted(extendReservation(turn, ask(NOW + 3 * HOUR)));
    expect(refused(extendReservation(turn, ask(NOW + 3 * HOUR + 1)))).toMatchObject({
      code: "QUOTA_EXCEEDED",
      peak: 1,
      requested: 1,
    });
  });

  it("gives a lease that the old end cut short its length", () => {
    const turn = holding({ leaseSeconds: 7_200, leaseExpiresAt: NOW + HOUR });
    turn.now = NOW + 30 * MINUTE;
    expect(accepted(extendReservation(turn, ask(NOW + DAY))).leaseExpiresAt).toBe(
      NOW + 30 * MINUTE + 2 * HOUR,
    );
  });

  it("is INVALID_STATE once the pool is archived or no longer offered, and when it has ended", () => {
    for (const config of [{ archivedAt: NOW }, { offers: [] }])
      expect(refused(extendReservation(holding({}, config), ask(NOW + DAY))).code).toBe(
        "INVALID_STATE",
      );
    const over = holding();
    over.moveTo(NOW + HOUR);
    expect(refused(extendReservation(over, ask(NOW + DAY))).code).toBe("INVALID_STATE");
  });

  it("is NOT_FOUND for another tenant and a conflict at a stale version", () => {
    const turn = holding();
    const theirs = ask(NOW + DAY, { tenantId: "t-b" });
    expect(refused(extendReservation(turn, theirs))).toEqual({ code: "NOT_FOUND" });
    expect(refused(extendReservation(turn, ask(NOW + DAY, { version: 9 }))).code).toBe("CONFLICT");
  });

  it("asked dry gives the same answer and changes nothing", () => {
    const turn = holding();
    const dry = accepted(extendedReservation(turn.state, turn.now, ask(NOW + DAY)));
    expect(turn.state.reservation(A)?.end).toBe(NOW + HOUR);
    expect(accepted(extendReservation(turn, ask(NOW + DAY)))).toEqual(dry);
  });
});
