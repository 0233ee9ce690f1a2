/** Whether a request would fit, where, and if not when. Nothing is changed. */
import { TIME_MAX, horizonMs } from "../duration.ts";
import { type EarliestStart, earliestStartSteps } from "../placer/earliest-start.ts";
import { type Placement, place } from "../placer/place.ts";
import { checkQuota } from "../quota.ts";
import { type Reason, type Refusal, type Result, ok } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";
import { type Preempting, planPreemptionSteps } from "./preempt.ts";
import { type Booker, type BookingShape, type ResolvedBooking, resolveBooking } from "./request.ts";
import { bookingQuota } from "./room.ts";

export interface BookingPreview extends ResolvedBooking {
  readonly placement: Placement;
  /** What notice to spot bookings would make possible, by the rule that creating follows; null = nothing. */
  readonly preempting: Preempting | null;
  /** First instant at which it fits: the start itself when it does; null when none was found. */
  readonly earliestStart: number | null;
  readonly searchedTo: number;
}

type Asking = Booker & { readonly shape: BookingShape };

/**
 * Yields often, so that a reader of the state can pause it; refuses what creating would refuse, but looks
 * at no quota.
 */
export function* previewBooking(
  state: PoolState,
  now: number,
  ask: Asking,
): Generator<void, Result<BookingPreview>, void> {
  const resolved = resolveBooking(state, now, ask);
  if (!resolved.ok) return resolved;
  const { config, request, showWithheld } = resolved.value;
  const placement = place(state, request, { showWithheld });
  const found = { ...resolved.value, placement };
  if (placement.fits) {
    const { start } = request;
    return ok({ ...found, preempting: null, earliestStart: start, searchedTo: start });
  }
  yield;
  const preempting = yield* planPreemptionSteps(state, config, { request, now });
  yield;
  const { at, searchedTo } = yield* searchStart(state, now, resolved.value);
  return ok({ ...found, preempting, earliestStart: at, searchedTo });
}

/**
 * What stands against a request that was not booked, as it is by now: over quota, or no room, then with
 * the time at which it would fit.
 */
export function* bookingRefusal(
  state: PoolState,
  now: number,
  ask: Asking,
): Generator<void, Refusal, void> {
  const resolved = resolveBooking(state, now, ask);
  if (!resolved.ok) return resolved.refusal;
  const booking = resolved.value;
  const { request, showWithheld } = booking;
  const placement = place(state, request, { candidatesMax: 1, showWithheld });
  const quota = checkQuota(bookingQuota(state, booking, placement), booking.charge);
  if (!quota.ok) return quota.refusal;
  yield;
  const { at, searchedTo } = yield* searchStart(state, now, booking);
  const reason = placement.fits ? tooLate(state) : placement.reason;
  return { code: "NO_CAPACITY", reason, earliestStart: at, searchedTo };
}

function* searchStart(
  state: PoolState,
  now: number,
  { config, request, showWithheld }: ResolvedBooking,
): Generator<void, EarliestStart, void> {
  // A booking that starts later than this would end where time does not reach.
  const lastStart = TIME_MAX - (request.end - request.start);
  const horizonEnd = Math.min(now + horizonMs(config.policy), lastStart);
  return yield* earliestStartSteps(state, request, { horizonEnd, showWithheld });
}

/** Room that came when nobody waited for it any more. */
function tooLate({ nodeCount }: PoolState): Reason {
  return {
    code: "BUSY",
    message: "all nodes were booked while it waited; there is room by now: ask again",
    blocked: [{ cause: "BUSY", nodes: nodeCount }],
  };
}
