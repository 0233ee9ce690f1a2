import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Reservation } from "./index.ts";
import { leaseOf } from "./lease.ts";

/** A lease as a server decides it: `at` its own clock when it did, `end` the end of the booking. */
function decided(parts: {
  at: number;
  leaseSeconds: number;
  end: number;
  start?: number;
}): Reservation {
  const { at, leaseSeconds, end, start = at } = parts;
  return {
    state: start > at ? "scheduled" : "active",
    start,
    end,
    leaseSeconds,
    leaseExpiresAt: Math.min(end, Math.max(at, start) + leaseSeconds * 1_000),
    updatedAt: at,
  } as Reservation;
}

const minutes = (most: number) => fc.integer({ min: 0, max: most * 60_000 });

describe("a lease on the clock of this side", () => {
  it("has never ended on the server while it lasts here, whatever the clocks and the way there", () => {
    const cases = fc.record({
      /** The server's clock less ours: a century either way. */
      offset: fc.integer({ min: -3e12, max: 3e12 }),
      sentAt: minutes(60),
      /** How long the call was under way before the server decided. */
      there: minutes(1),
      leaseSeconds: fc.integer({ min: 30, max: 86_400 }),
      endsIn: fc.integer({ min: 1_000, max: 200_000_000 }),
      random: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    });
    fc.assert(
      fc.property(cases, ({ offset, sentAt, there, leaseSeconds, endsIn, random }) => {
        const at = sentAt + there + offset;
        const reservation = decided({ at, leaseSeconds, end: at + endsIn });
        const lease = leaseOf({ reservation, sentAt, offset: null }, random);
        const endsHere = Number(reservation.leaseExpiresAt) - offset;
        expect(lease.expiresAt).toBeLessThanOrEqual(endsHere);
        // Nor is more given away than the way there took.
        expect(lease.expiresAt).toBeGreaterThanOrEqual(endsHere - there);
        const left = lease.expiresAt - sentAt;
        expect(lease.renewAt).toBeGreaterThanOrEqual(sentAt);
        expect(lease.renewAt - sentAt).toBeLessThanOrEqual(Math.min(left / 3, 600_000) + 0.01);
        if (left < 1_800_000)
          expect(lease.renewAt - sentAt).toBeGreaterThan((left / 3) * 0.85 - 0.01);
      }),
    );
  });

  it("of a booking that has not begun counts from its start, where the server's clock is known", () => {
    const reservation = decided({
      at: 1e12,
      leaseSeconds: 60,
      end: 1e12 + 1e7,
      start: 1e12 + 90_000,
    });
    const known = leaseOf({ reservation, sentAt: 5_000, offset: 1e12 - 5_000 }, 0);
    expect(known).toEqual({ expiresAt: 155_000, renewAt: 115_000 });
    const unknown = leaseOf({ reservation, sentAt: 5_000, offset: null }, 0);
    expect(unknown).toEqual({ expiresAt: 65_000, renewAt: 25_000 });
  });
});
