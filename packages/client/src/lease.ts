/** When a lease ends and when to renew it, on a clock of this side. Pure. */
import type { Reservation } from "./api.gen.ts";

/** Before its start there is nothing to renew; it is looked at all the same. */
const LOOK_MS = 600_000;
/** Holders that were started together do not renew together. */
const JITTER = 0.15;

/** On the clock that `sentAt` was read from. */
export interface Lease {
  /** It has not ended before this. */
  readonly expiresAt: number;
  /** When to renew. */
  readonly renewAt: number;
}

/** An answer of the server. */
export interface Answered {
  readonly reservation: Reservation;
  /** When it was asked: the server decided no earlier, so the lease lasts no less from there. */
  readonly sentAt: number;
  /** The server's clock less ours; null while it is not known. */
  readonly offset: number | null;
}

/** @param random in [0,1) */
export function leaseOf({ reservation, sentAt, offset }: Answered, random: number): Lease {
  const { leaseSeconds, leaseExpiresAt, updatedAt, start, state } = reservation;
  const whole = (leaseSeconds ?? 0) * 1_000;
  const untilStart =
    state === "scheduled" && offset !== null ? Math.max(0, start - (sentAt + offset)) : 0;
  // `updatedAt` is the server's own now when it renewed; an end that is near leaves less than a whole lease.
  const left =
    state === "scheduled" || leaseExpiresAt === null
      ? whole
      : Math.max(0, Math.min(whole, leaseExpiresAt - updatedAt));
  const wait = Math.min(untilStart + left / 3, LOOK_MS);
  return {
    expiresAt: sentAt + untilStart + left,
    renewAt: sentAt + wait * (1 - JITTER * random),
  };
}
