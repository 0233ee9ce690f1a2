/** Whether a request would fit, where, and if not when: nothing is changed and no quota is looked at. */
import { TIME_MAX, horizonMs } from "../duration.ts";
import { earliestStartSteps } from "../placer/earliest-start.ts";
import { type Placement, place } from "../placer/place.ts";
import { type Result, ok } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";
import { type Booker, type BookingShape, type ResolvedBooking, resolveBooking } from "./request.ts";

export interface BookingPreview extends ResolvedBooking {
  readonly placement: Placement;
  /** First instant at which it fits: the start itself when it does; null when none was found. */
  readonly earliestStart: number | null;
  readonly searchedTo: number;
}

/** Yields often, so that a reader of the state can pause it; refuses what creating would refuse. */
export function* previewBooking(
  state: PoolState,
  now: number,
  ask: Booker & { readonly shape: BookingShape },
): Generator<void, Result<BookingPreview>, void> {
  const resolved = resolveBooking(state, now, ask);
  if (!resolved.ok) return resolved;
  const { config, request } = resolved.value;
  const placement = place(state, request);
  if (placement.fits) {
    const { start } = request;
    return ok({ ...resolved.value, placement, earliestStart: start, searchedTo: start });
  }
  // A booking that starts later than this would end where time does not reach.
  const lastStart = TIME_MAX - (request.end - request.start);
  const horizonEnd = Math.min(now + horizonMs(config.policy), lastStart);
  const found = yield* earliestStartSteps(state, request, { horizonEnd });
  return ok({
    ...resolved.value,
    placement,
    earliestStart: found.at,
    searchedTo: found.searchedTo,
  });
}
