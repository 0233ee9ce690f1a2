/** An outage ends no lease: what time did while nobody could renew is not held against anybody. */
import type { Reservation } from "../model.ts";
import type { Turn } from "../turn.ts";

/** A stretch of the pool's time in which nobody could renew a lease, `[from, to)`. */
export interface Outage {
  readonly from: number;
  readonly to: number;
}

/** What has to be minded before a lease may lapse. */
export interface LeaseClock {
  /** Outages that the pool's leases were not raised for yet, in their order. */
  readonly outages: readonly Outage[];
  /** Since then nobody knows what time it is, and no lease lapses; null: leases lapse. */
  readonly heldSince: number | null;
}

/** A lease is good for at least this long after an outage. */
const GRACE_MIN_MS = 30_000;

/**
 * Raises the leases that an outage, or the time in which the clock is not trusted, would end: those that
 * were live when it began, to at least its end and then the longer of 30 s and half the lease, never past
 * the booking's end. What had lapsed before stays over. Comes before everything that is due. Nobody is
 * told, and no version moves: the booking is what it was.
 */
export function applyGrace(turn: Turn, clock: LeaseClock): void {
  if (clock.outages.length === 0 && clock.heldSince === null) return;
  for (const before of [...turn.state.reservations()]) {
    const leaseExpiresAt = graced(before, clock, turn.now);
    if (leaseExpiresAt === before.leaseExpiresAt) continue;
    turn.apply({ kind: "reservation", before, after: { ...before, leaseExpiresAt } });
  }
}

function graced(reservation: Reservation, clock: LeaseClock, now: number): number | null {
  const { leaseExpiresAt, leaseSeconds, end } = reservation;
  if (leaseExpiresAt === null || leaseSeconds === null) return leaseExpiresAt;
  const grace = Math.max(GRACE_MIN_MS, leaseSeconds * 500);
  let lease = leaseExpiresAt;
  for (const { from, to } of clock.outages)
    if (lease > from) lease = Math.max(lease, Math.min(end, to + grace));
  const { heldSince } = clock;
  // Only those that would lapse now: a state that is asked again and again changes no more than it must.
  if (heldSince !== null && lease > heldSince && lease <= now) lease = Math.min(end, now + grace);
  return lease;
}
