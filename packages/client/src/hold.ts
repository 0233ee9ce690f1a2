/**
 * A booking that is kept: its lease is renewed for as long as somebody holds it. When it cannot be kept any more the
 * holder is told; when it is left it is given back.
 */
import type { BookingRequest, Reservation, ReservationsApi } from "./api.gen.ts";
import { BerthError, asBerthError } from "./errors.ts";
import type { HoldLoss } from "./errors.ts";
import type { Teller } from "./hooks.ts";
import type { CallOptions } from "./options.ts";
import { startClock } from "./clock.ts";
import { Renewal } from "./renewal.ts";
import type { Lost } from "./renewal.ts";

/** Timers of a page that nobody looks at run once a minute: a lease has to outlast that by far. */
const LEASE_SECONDS = 120;

/** Leaving takes no longer than this: the lease ends what could not be released. */
const LEAVE_MS = 10_000;

/** What to book and keep. */
export interface HoldRequest extends BookingRequest {
  /**
   * The booking lapses unless renewed at least this often, seconds: what a crash of yours costs. Default 120.
   *
   * Rule: 30-86400.
   */
  leaseSeconds?: number | undefined;
}

/** What may be said of a hold: of the call that books it, and of its end. */
export interface HoldOptions extends CallOptions {
  /** Aborts the call that books and the wait for its start, giving it back; once it is held, `hold.signal`. */
  readonly signal?: AbortSignal | undefined;
}

/** A booking that is kept alive. */
export interface Hold extends AsyncDisposable {
  /** The reservation as the server last answered it. */
  readonly reservation: Reservation;
  /**
   * Resolves when it is not held any more although you did not let it go: with a `HOLD_LOST`, whose `details.reason`
   * says why. Never rejects, and stays pending when you let go.
   */
  readonly lost: Promise<BerthError<"HOLD_LOST">>;
  /** Aborts when the hold is lost, with the `HOLD_LOST` as its reason, and when `options.signal` does. */
  readonly signal: AbortSignal;
  /**
   * Gives it back. Called again it answers the same; a hold that is over is no error. Rejects when the server cannot
   * be reached: then call it again, or leave it to the lease.
   */
  release(options?: CallOptions): Promise<Reservation>;
}

/** What a hold is made with. */
export interface Holding {
  readonly reservations: Pick<ReservationsApi, "create" | "renew" | "release" | "get">;
  readonly tell: Pick<Teller, "releaseFailed">;
}

/** Missing in older browsers. */
const ASYNC_DISPOSE: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for("Symbol.asyncDispose") as typeof Symbol.asyncDispose);

/** Books, keeps what was booked, and answers when it has begun. */
export async function startHold(
  holding: Holding,
  ask: HoldRequest,
  options: HoldOptions = {},
): Promise<Hold> {
  const { reservations, tell } = holding;
  const clock = startClock();
  const leased = { ...ask, leaseSeconds: ask.leaseSeconds ?? LEASE_SECONDS };
  const reservation = await reservations.create(leased, options);
  // With the caller's own key it may have been booked long ago.
  const isFresh = (ask.idempotencyKey ?? options.idempotencyKey) === undefined;
  const renewal = new Renewal({ reservations, clock, reservation, sentAt: 0, isFresh });
  if (renewal.isOver) throw over(reservation);
  const controller = new AbortController();
  const stopFollowing = follow(controller, options.signal);
  const lost = lossBy(renewal, controller);
  const release = createRelease(reservations, renewal, stopFollowing);
  const leave = async (): Promise<void> => {
    try {
      await release({ timeoutMs: LEAVE_MS });
    } catch (thrown) {
      tell.releaseFailed({ reservation: renewal.reservation, error: asBerthError(thrown) });
    }
  };
  if (reservation.state === "scheduled") {
    try {
      await begin(renewal, controller.signal);
    } catch (thrown) {
      // Nobody else can: it was never handed out.
      await leave();
      throw thrown;
    }
  }
  return {
    get reservation() {
      return renewal.reservation;
    },
    lost,
    signal: controller.signal,
    release,
    [ASYNC_DISPOSE]: leave,
  };
}

/** @throws what the signal aborts with, or the loss */
async function begin(renewal: Renewal, signal: AbortSignal): Promise<void> {
  const lost = await renewal.begun(signal);
  if (signal.aborted) throw signal.reason;
  if (lost) throw lossOf(lost, renewal.reservation);
  if (renewal.isOver) throw over(renewal.reservation);
}

/** Runs the body, and leaves the hold in any case. */
export async function useHold<T>(hold: Hold, body: (hold: Hold) => T | Promise<T>): Promise<T> {
  try {
    return await body(hold);
  } finally {
    await hold[ASYNC_DISPOSE]();
  }
}

/** Hands an abort on. Answers how to stop that. */
function follow(controller: AbortController, outer: AbortSignal | undefined): () => void {
  const onAbort = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) onAbort();
  else outer?.addEventListener("abort", onAbort);
  return () => outer?.removeEventListener("abort", onAbort);
}

/** Pending for as long as it is held, and for good when it is let go. */
function lossBy(renewal: Renewal, controller: AbortController): Promise<BerthError<"HOLD_LOST">> {
  return new Promise((resolve) => {
    void renewal.run().then((lost) => {
      if (lost === null) return;
      const error = lossOf(lost, renewal.reservation);
      controller.abort(error);
      resolve(error);
    });
  });
}

const over = (reservation: Reservation): BerthError<"HOLD_LOST"> =>
  lossOf({ reason: reservation.state as HoldLoss["reason"], cause: null }, reservation);

function lossOf({ reason, cause }: Lost, reservation: Reservation): BerthError<"HOLD_LOST"> {
  const why =
    reason === "unreachable"
      ? "its lease ran out before the server could be reached"
      : reason === "refused"
        ? "the server does not renew it"
        : `it is ${reason}`;
  return new BerthError({
    code: "HOLD_LOST",
    message: `the reservation ${reservation.id} is not held any more: ${why}`,
    retryable: false,
    status: cause?.status ?? null,
    requestId: cause?.requestId ?? null,
    issues: null,
    details: { reason, reservation },
    ...(cause ? { cause } : {}),
  });
}

/** One release at a time; one that failed may be tried again. What is known to be over is let be. */
function createRelease(
  reservations: Holding["reservations"],
  renewal: Renewal,
  onEnd: () => void,
): Hold["release"] {
  let releasing: Promise<Reservation> | undefined;
  const ask = async (options: CallOptions | undefined): Promise<Reservation> => {
    if (renewal.isOver) return renewal.reservation;
    const { tenantId, id: reservationId } = renewal.reservation;
    try {
      return renewal.saw(await reservations.release({ tenantId, reservationId }, options));
    } catch (thrown) {
      releasing = undefined;
      throw thrown;
    }
  };
  return (options) => {
    renewal.stop();
    onEnd();
    return (releasing ??= ask(options));
  };
}
