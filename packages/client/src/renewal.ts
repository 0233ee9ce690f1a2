/** Renews a lease again and again, until it is told to stop or there is nothing left to renew. */
import type { Reservation, ReservationsApi } from "./api.gen.ts";
import { backoff, sleep } from "./backoff.ts";
import { pauseUntil } from "./clock.ts";
import type { Clock } from "./clock.ts";
import type { BerthError, HoldLoss } from "./errors.ts";
import { leaseOf } from "./lease.ts";
import type { Lease } from "./lease.ts";
import type { CallOptions } from "./options.ts";
import type { Result } from "./promise.ts";

/** One try takes no longer, and no less when the end is near. */
const TRY_MAX_MS = 10_000;
const TRY_MIN_MS = 2_000;
const AGAIN_MIN_MS = 1_000;
/** A network comes back some seconds after its machine woke up. */
const WAKING_MS = 10_000;
/** How late a machine that slept notices that its booking has begun. */
const SLICE_MS = 5_000;
/** While the server's clock is not known its start is asked for again after this. */
const LOOK_MS = 30_000;

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
  #lookedAt = 0;

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

  /** An answer that was overtaken by a newer one changes nothing. */
  saw(reservation: Reservation): Reservation {
    if (reservation.version >= this.#reservation.version) this.#reservation = reservation;
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

  /**
   * Waits until it has begun: until then its GPUs may be somebody else's. Ends early when the signal aborts; answers
   * how it was lost when the server does not tell of it. Somebody awaits this, so its timers keep the process alive.
   */
  async begun(signal: AbortSignal): Promise<Lost | null> {
    const isWaiting = (): boolean => !signal.aborted && this.#reservation.state === "scheduled";
    const { clock } = this.#parts;
    for (let looks = 0; isWaiting(); looks += 1) {
      const notBefore = clock() + (looks === 0 ? 0 : backoff(looks));
      const left = (): number => Math.max(notBefore, this.#startsAt()) - clock();
      while (isWaiting() && left() > 0) await sleep(Math.min(SLICE_MS, left()), signal);
      if (!isWaiting()) break;
      const looked = await this.#get({ timeoutMs: TRY_MAX_MS, maxRetries: 0, signal });
      if (!looked.ok && !signal.aborted && !looked.error.retryable)
        return { reason: "refused", cause: looked.error };
    }
    return null;
  }

  /** On our clock. */
  #startsAt(): number {
    const { start } = this.#reservation;
    if (this.#offset !== null) return start - this.#offset;
    const guessed = this.#parts.clock() + Math.max(0, start - Date.now());
    return Math.min(this.#lookedAt + LOOK_MS, guessed);
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
    const looked = await this.#get({ timeoutMs: TRY_MAX_MS });
    return looked.ok && this.isOver ? (this.#reservation.state as HoldLoss["reason"]) : "refused";
  }

  async #get(options: CallOptions): Promise<Result<Reservation>> {
    const { tenantId, id: reservationId } = this.#reservation;
    const looked = await this.#parts.reservations.get({ tenantId, reservationId }, options).safe();
    this.#lookedAt = this.#parts.clock();
    if (looked.ok) this.saw(looked.data);
    return looked;
  }
}
