import { describe, expect, it } from "vitest";
import type { Reservation } from "../model.ts";
import { releaseReservation } from "./release.ts";
import { renewReservation } from "./renew.ts";
import { terminateReservation } from "./terminate.ts";
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
const mine = { reservationId: A, tenantId: "t-a" } as const;

function holding(given: Partial<Reservation> = {}): TestTurn {
  const turn = turnOn(gpuPool(1, 1));
  turn.apply({ kind: "reservation", before: null, after: booking({ id: A, ...given }) });
  return turn;
}

const leased = { leaseSeconds: 600, leaseExpiresAt: NOW + 10 * MINUTE } as const;

describe("renew", () => {
  it("moves the lease to now and its length", () => {
    const turn = holding(leased);
    turn.moveTo(NOW + MINUTE);
    expect(accepted(renewReservation(turn, mine))).toMatchObject({
      leaseExpiresAt: NOW + 11 * MINUTE,
      version: 2,
      updatedAt: NOW + MINUTE,
    });
    expect(turn.takeEvents()).toEqual(["reservation.renewed"]);
  });

  it("never moves the lease past the end", () => {
    const turn = holding({ ...leased, leaseSeconds: 86_400 });
    expect(accepted(renewReservation(turn, mine)).leaseExpiresAt).toBe(NOW + HOUR);
  });

  it("never shortens it, and tells nobody of a renewal that moves nothing", () => {
    const turn = holding({ ...leased, leaseExpiresAt: NOW + 30 * MINUTE });
    expect(accepted(renewReservation(turn, mine))).toMatchObject({
      leaseExpiresAt: NOW + 30 * MINUTE,
      version: 1,
    });
    expect(turn.takeEvents()).toEqual([]);
  });

  it("is refused from the instant in which the lease lapses", () => {
    const turn = holding(leased);
    turn.moveTo(NOW + 10 * MINUTE - 1);
    accepted(renewReservation(turn, mine));
    const late = holding(leased);
    late.moveTo(NOW + 10 * MINUTE);
    expect(refused(renewReservation(late, mine)).code).toBe("INVALID_STATE");
  });

  it("changes nothing before the start: the lease counts from there", () => {
    const turn = holding({
      ...leased,
      start: NOW + HOUR,
      end: NOW + 2 * HOUR,
      leaseExpiresAt: NOW + 70 * MINUTE,
    });
    turn.moveTo(NOW + 59 * MINUTE);
    expect(accepted(renewReservation(turn, mine))).toMatchObject({
      leaseExpiresAt: NOW + 70 * MINUTE,
      version: 1,
    });
  });

  it("is refused without a lease", () => {
    expect(refused(renewReservation(holding(), mine)).code).toBe("INVALID_STATE");
  });
});

describe("release", () => {
  it("ends a running and a scheduled booking now", () => {
    for (const start of [NOW, NOW + 30 * MINUTE]) {
      const turn = holding({ start });
      turn.now = NOW + 5;
      expect(accepted(releaseReservation(turn, mine))).toMatchObject({
        state: "released",
        endedAt: NOW + 5,
        version: 2,
        end: NOW + HOUR,
      });
      expect(turn.takeEvents()).toEqual(["reservation.released"]);
      expect(turn.state.reservation(A)).toBeUndefined();
      expect(turn.state.usage("t-a", "gpu")?.peakFrom(0) ?? 0).toBe(0);
    }
  });

  it("has nothing to do for an ended booking, whatever version is named", () => {
    const turn = holding();
    accepted(releaseReservation(turn, mine));
    turn.takeEvents();
    expect(accepted(releaseReservation(turn, { ...mine, version: 1 }))).toBeNull();
    expect(turn.takeEvents()).toEqual([]);
  });

  it("is a conflict at a stale version", () => {
    const turn = holding({ version: 3 });
    expect(refused(releaseReservation(turn, { ...mine, version: 2 }))).toMatchObject({
      code: "CONFLICT",
      kind: "version",
    });
    accepted(releaseReservation(turn, { ...mine, version: 3 }));
  });
});

describe("another tenant's reservation", () => {
  it("does not exist for renew and release", () => {
    const turn = holding(leased);
    const theirs = { ...mine, tenantId: "t-b" };
    expect(refused(renewReservation(turn, theirs))).toEqual({ code: "NOT_FOUND" });
    expect(refused(releaseReservation(turn, theirs))).toEqual({ code: "NOT_FOUND" });
    expect(turn.changes).toHaveLength(1);
  });

  it("can be terminated with a reason that its tenant reads", () => {
    const turn = holding();
    const ask = { reservationId: A, reason: "the rack is sold" } as const;
    expect(accepted(terminateReservation(turn, ask))).toMatchObject({
      state: "terminated",
      endReason: "the rack is sold",
      endedAt: NOW,
    });
    expect(turn.events).toMatchObject([
      {
        type: "reservation.terminated",
        views: [{ tenantId: "t-a", data: { endReason: "the rack is sold" } }],
      },
    ]);
    expect(turn.events[0]?.views).toHaveLength(1);
    expect(accepted(terminateReservation(turn, ask))).toBeNull();
  });
});
