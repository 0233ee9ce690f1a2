/**
 * Regular bookings that find no room may have it where spot bookings are: those are told that they end,
 * and the newcomer begins when the notice is over. What they free is the newcomer's and nobody else's.
 */
import type { ReservationId } from "../ids.ts";
import { follow } from "../lifecycle.ts";
import type { PlaceRequest, PoolConfig, Preemption, Reservation } from "../model.ts";
import { place } from "../placer/place.ts";
import { type Victims, findVictimsSteps } from "../placer/victims.ts";
import type { PoolState } from "../state/pool-state.ts";
import { through } from "../steps.ts";
import type { Turn } from "../turn.ts";
import { PREEMPTED, letGo } from "./end.ts";
import { change } from "./events.ts";
import { mindCut } from "./heal.ts";

/** How long a spot booking is told beforehand, unless the pool's owner says otherwise. */
const NOTICE_SECONDS = 120;

export interface Preempting extends Victims {
  /** When the notice is over and the newcomer begins. */
  readonly startsAt: number;
  /** The request in the window that it would get. */
  readonly request: PlaceRequest;
}

/**
 * Who would have to go for a regular request that does not fit; null when nobody's going would help, when
 * by the end of a notice there is room anyway, and for a spot request, which never preempts.
 */
export function planPreemption(
  state: PoolState,
  config: PoolConfig,
  asked: { readonly request: PlaceRequest; readonly now: number },
): Preempting | null {
  return through(planPreemptionSteps(state, config, asked));
}

/** The same, pausing often. */
export function* planPreemptionSteps(
  state: PoolState,
  config: PoolConfig,
  { request, now }: { readonly request: PlaceRequest; readonly now: number },
): Generator<void, Preempting | null, void> {
  if (request.spot || state.preemptible().size === 0) return null;
  const later = afterNotice(config, request, now);
  if (roomComesAnyway(state, request, later)) return null;
  yield;
  const found = yield* findVictimsSteps(state, later);
  return found && { ...found, startsAt: later.start, request: later };
}

/**
 * Whether a request that does not fit has room by the end of a notice without anybody's going: whoever was
 * told would go for nothing. Unlike a want of room, that may be over when others book.
 */
export function roomComesAnyway(
  state: PoolState,
  request: PlaceRequest,
  later: PlaceRequest,
): boolean {
  if (later.start === request.start) return false;
  return place(state, later, { candidatesMax: 1 }).fits;
}

/** The request in the window that it would get if somebody had to be told first. */
export function afterNotice(config: PoolConfig, request: PlaceRequest, now: number): PlaceRequest {
  const notice = (config.policy.spot?.noticeSeconds ?? NOTICE_SECONDS) * 1_000;
  const start = Math.max(request.start, now + notice);
  return { ...request, start, end: start + (request.end - request.start) };
}

/**
 * Tells the victims; when this returns, the preemptor's window is free for it. One that would not have
 * begun by then ends at once.
 * @returns those that ended; their nodes are to be settled once the preemptor is booked
 */
export function giveNotice(turn: Turn, byId: ReservationId, plan: Preempting): Reservation[] {
  const { now } = turn;
  return plan.victims.flatMap((before) => {
    const endsAt = before.start >= plan.startsAt ? now : plan.startsAt;
    const preemption = { noticeAt: now, endsAt, byId, originalEnd: before.end };
    if (endsAt <= now)
      return letGo(turn, before, { trigger: "preempt", at: now, reason: PREEMPTED, preemption });
    notice(turn, before, preemption);
    return [];
  });
}

function notice(turn: Turn, before: Reservation, preemption: Preemption): void {
  const { endsAt } = preemption;
  const { leaseExpiresAt } = before;
  const after: Reservation = {
    ...before,
    state: follow(before.state, "notice"),
    preemption,
    end: endsAt,
    leaseExpiresAt: leaseExpiresAt === null ? null : Math.min(leaseExpiresAt, endsAt),
    endingSoonAt: null,
    version: before.version + 1,
    updatedAt: turn.now,
  };
  change(turn, "reservation.preempting", { before, after });
  mindCut(turn, after);
}
