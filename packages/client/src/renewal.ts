/** Renews a lease again and again, until it is told to stop or there is nothing left to renew. */
import type { Reservation, ReservationsApi } from "./api.gen.ts";
import { pauseUntil } from "./clock.ts";
import type { Clock } from "./clock.ts";
import type { BerthError, HoldLoss } from "./errors.ts";
import { leaseOf } from "./lease.ts";
import type { Lease } from "./lease.ts";

/** One try takes no longer, and no less when the end is near. */
const TRY_MAX_MS = 10_000;
const TRY_MIN_MS = 2_000;
const AGAIN_MIN_MS = 1_000;
/** A network comes back some seconds after its machine woke up. */
const WAKING_MS = 10_000;

/** Words after which there is no lease to renew. */
const GONE: ReadonlySet<string> = new Set(["INVALID_STATE", "NOT_FOUND"]);
const LIVE: ReadonlySet<string> = new Set(["scheduled", "active", "preempting"]);

export interface Lost {
  readonly reason: HoldLoss["reason"];
  readonly cause: BerthError | null;
}

export interface RenewalParts {
  readonly reservations: Pick<ReservationsApi, "renew" | "get">;
  readonly clock: Clock;
  /** As the call that booked it answered. */
  readonly reservation: Reservation;
  /** When that call was sent. */
  readonly sentAt: number;
  /** It was booked by that very call, and not by an earlier one with the same key. */
  readonly isFresh: boolean;
}

export class Renewal {
  readonly #parts: RenewalParts;
  readonly #stopped = new AbortController();
  /** The server's clock less ours; null while it is not known. */
  readonly #offset: number | null;
  #reservation: Reservation;
  #lease: Lease;
  #lost: Lost | null = null;
  /** Until when a machine that overslept is given time to find its network. */
  #wakingUntil = 0;

  constructor(parts: RenewalParts) {
    const { reservation, sentAt, isFresh } = parts;
    this.#parts = parts;
    this.#reservation = reservation;
    this.#offset = isFresh ? reservation.updatedAt - sentAt : null;
    const lease = this.#leaseFrom(reservation, sentAt);
    // What an earlier call booked may be about to end.
    this.#lease = isFresh ? lease : { ...lease, renewAt: sentAt };
  }

  /** As the server last answered it. */
  get reservation(): Reservation {
    return this.#reservation;
  }

  /** Whether it is known to be over. */
  get isOver(): boolean {
    return !LIVE.has(this.#reservation.state);
  }

  /** No more renewals; `run` ends and says nothing. */
  stop(): void {
    this.#stopped.abort();
  }

  saw(reservation: Reservation): Reservation {
    this.#reservation = reservation;
    return reservation;
  }

  /** Renews for as long as that goes; answers how it ended, or null when it was stopped. */
  async run(): Promise<Lost | null> {
    const { clock } = this.#parts;
    const { signal } = this.#stopped;
    for (;;) {
      const { renewAt } = this.#lease;
      await pauseUntil(renewAt, clock, signal);
      if (signal.aborted) return null;
      this.#noteSleep(renewAt);
      const triedAt = clock();
      await this.#renew();
      if (signal.aborted) return null;
      this.#noteSleep(triedAt + TRY_MAX_MS);
      if (this.#lost) return this.#lost;
    }
  }

  /** What should have happened by then and did not: the machine slept, or the page was stopped. */
  #noteSleep(due: number): void {
    const now = this.#parts.clock();
    if (now - due > WAKING_MS) this.#wakingUntil = now + WAKING_MS;
  }

  async #renew(): Promise<void> {
    const { clock, reservations } = this.#parts;
    const { tenantId, id: reservationId } = this.#reservation;
    const sentAt = clock();
    const left = this.#lease.expiresAt - sentAt;
    // Tries of our own: each one's sending time is then known, and the lease's end decides when to give up.
    const renewed = await reservations
      .renew(
        { tenantId, reservationId },
        {
          timeoutMs: Math.min(TRY_MAX_MS, Math.max(TRY_MIN_MS, left)),
          maxRetries: 0,
          signal: this.#stopped.signal,
        },
      )
      .safe();
    if (renewed.ok) {
      this.saw(renewed.data);
      this.#lease = this.#leaseFrom(renewed.data, sentAt);
      return;
    }
    const { error } = renewed;
    if (GONE.has(error.code)) this.#lost = { reason: await this.#look(), cause: error };
    else if (sentAt >= Math.max(this.#lease.expiresAt, this.#wakingUntil))
      this.#lost = { reason: error.retryable ? "unreachable" : "refused", cause: error };
    else this.#lease = { ...this.#lease, renewAt: this.#again() };
  }

  #leaseFrom(reservation: Reservation, sentAt: number): Lease {
    return leaseOf({ reservation, sentAt, offset: this.#offset }, Math.random());
  }

  /** A third of what is left of the lease, and once more when it has ended. */
  #again(): number {
    const now = this.#parts.clock();
    return now + Math.max(AGAIN_MIN_MS, (this.#lease.expiresAt - now) / 3);
  }

  /** Why it is over, as the server says. */
  async #look(): Promise<HoldLoss["reason"]> {
    const { tenantId, id: reservationId } = this.#reservation;
    const looked = await this.#parts.reservations
      .get({ tenantId, reservationId }, { timeoutMs: TRY_MAX_MS })
      .safe();
    if (!looked.ok) return "refused";
    this.saw(looked.data);
    return this.isOver ? (looked.data.state as HoldLoss["reason"]) : "refused";
  }
}
