/** Moves a booking's end on, on the units that it has: all members of a gang, all nodes of a lease, alike. */
import { amountsHeld } from "../amounts.ts";
import { TIME_MAX, formatDuration, maxDurationMs } from "../duration.ts";
import type { PoolConfig, Reservation } from "../model.ts";
import { extension } from "../placer/extend.ts";
import { checkQuota, quotaLines, resolveCharge } from "../quota.ts";
import { type Result, invalid, invariant, ok, refuse } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";
import { endingSoonAt } from "./ending-soon.ts";
import { change } from "./events.ts";
import { HAS_ENDED, type ReservationAsk, findLive } from "./live.ts";
import type { Booker } from "./request.ts";

export interface ExtendAsk extends ReservationAsk, Booker {
  /** The new end, exclusive. */
  readonly end: number;
}

/**
 * The reservation with its later end. Nobody is preempted for it; `NO_CAPACITY` says how far the end could
 * move. The present end is answered unchanged, an earlier one is refused: a shorter booking is a release.
 */
export function extendReservation(turn: Turn, ask: ExtendAsk): Result<Reservation> {
  const live = findLive(turn.state, ask);
  if (!live.ok) return live;
  const extended = extendedReservation(turn.state, turn.now, ask);
  if (!extended.ok || live.value === null || extended.value === live.value) return extended;
  return ok(change(turn, "reservation.extended", { before: live.value, after: extended.value }));
}

/**
 * What extending would make of the reservation, nothing changed: also the answer of a dry run. State
 * first, then the limits of input, quota over the added time, room.
 */
export function extendedReservation(
  state: PoolState,
  now: number,
  ask: ExtendAsk,
): Result<Reservation> {
  const { config } = state;
  invariant(config !== null, "a reservation is in a pool");
  const live = findLive(state, ask);
  if (!live.ok) return live;
  const before = live.value;
  if (before === null) return refuse(HAS_ENDED);
  if (ask.end === before.end) return ok(before);
  const limits = checkLimits(config, before, ask);
  if (!limits.ok) return limits;
  const quota = quotaForExtension(state, config, { before, ask });
  if (!quota.ok) return quota;
  const room = extension(state, before, ask.end);
  if (room.fits) return ok(withEnd(before, ask.end, now));
  return refuse({
    code: "NO_CAPACITY",
    reason: room.reason,
    earliestStart: null,
    searchedTo: ask.end,
    latestEnd: room.latestEnd,
  });
}

function checkLimits(config: PoolConfig, before: Reservation, ask: ExtendAsk): Result<void> {
  const state = (message: string): Result<never> => refuse({ code: "INVALID_STATE", message });
  if (before.state === "preempting")
    return state("the reservation is under notice: it ends as told");
  if (config.archivedAt !== null)
    return state("the pool is archived: its bookings cannot be extended");
  if (!resolveCharge(config, ask.tenantId, ask.ancestors))
    return state("the pool is no longer offered to the tenant: its bookings cannot be extended");
  if (ask.end < before.end)
    return invalid(
      ["end"],
      "an extension ends later than the booking does; release it to end early",
    );
  if (ask.end > TIME_MAX) return invalid(["end"], "nothing ends after 2^47 milliseconds");
  const longest = maxDurationMs(config.policy);
  if (ask.end - before.start > longest)
    return invalid(
      ["end"],
      `a booking of this pool lasts at most ${formatDuration(longest)} in all`,
    );
  return ok(undefined);
}

/** The time that it has is booked under its quota already, so only what is added can pass a maximum. */
function quotaForExtension(
  state: PoolState,
  config: PoolConfig,
  { before, ask }: { before: Reservation; ask: ExtendAsk },
): Result<void> {
  const amounts = amountsHeld(before, (id) => state.unit(id)?.unit);
  const lines = quotaLines(state, config, {
    payer: before.chargedTenantId,
    amounts,
    start: before.end,
    end: ask.end,
  });
  const descendant = before.chargedTenantId !== before.tenantId;
  return checkQuota(lines, { tenantId: before.chargedTenantId, descendant });
}

/**
 * A lease that the old end cut short may run its full length now: whoever extends still uses it. Told of
 * its end it is again, unless that moment has passed for the new end as well.
 */
function withEnd(before: Reservation, end: number, now: number): Reservation {
  const { leaseSeconds, leaseExpiresAt } = before;
  const lease =
    leaseSeconds === null || leaseExpiresAt === null
      ? null
      : Math.max(leaseExpiresAt, Math.min(Math.max(before.start, now) + leaseSeconds * 1_000, end));
  const soon = endingSoonAt(before.start, end);
  return {
    ...before,
    end,
    leaseExpiresAt: lease,
    endingSoonAt: soon > now ? soon : null,
    version: before.version + 1,
    updatedAt: now,
  };
}
