/**
 * Who found no room is looked at again only where something was given back since: with many in line, each
 * release would otherwise cost a search of the whole pool for each of them.
 */
import type { NodeId } from "../ids.ts";
import type { Waiter } from "../claims.ts";
import type { PlaceRequest, PoolConfig } from "../model.ts";
import { nodeWithout } from "../placer/absent.ts";
import { causeOf } from "../placer/fit.ts";
import { planOf } from "../placer/plan.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import { afterNotice, roomComesAnyway } from "./preempt.ts";
import type { ResolvedBooking } from "./request.ts";

/** Where a waiter found no room: everything that was touched later may have some. */
interface Failure {
  readonly state: PoolState;
  readonly config: PoolConfig | null;
  readonly revision: number;
  /** When a notice given then would have been over; null of a spot request, which gives none. */
  readonly noticeEnd: number | null;
}

/** Only ever saves time: what is not known is looked at in full. */
const failures = new WeakMap<Waiter, Failure>();

/** Who tells nobody to go because room comes anyway: when others book that, they may have to. */
const counting = new WeakMap<PoolState, Set<Waiter>>();

/**
 * It was looked at in full, and there is no room for it.
 * @returns whether that stays so until something is given back
 */
export function noteNoRoom(
  state: PoolState,
  waiter: Waiter,
  { booking, now }: { readonly booking: ResolvedBooking; readonly now: number },
): boolean {
  const { request } = booking;
  const later = request.spot ? null : afterNotice(booking.config, request, now);
  if (later && roomComesAnyway(state, request, later)) {
    forgetNoRoom(waiter);
    countingOn(state).add(waiter);
    return false;
  }
  counting.get(state)?.delete(waiter);
  const { config, revision } = state;
  failures.set(waiter, { state, config, revision, noticeEnd: later?.start ?? null });
  return true;
}

/** It was looked at as far as anything was given back, which comes to the same. */
export function stillNoRoom({ revision }: PoolState, waiter: Waiter): void {
  const failure = failures.get(waiter);
  if (failure) failures.set(waiter, { ...failure, revision });
}

/** Whether somebody in line is to be looked at again even when nothing was given back. */
export function someCountOnRoom(state: PoolState): boolean {
  for (const waiter of counting.get(state) ?? [])
    if (state.waiting.get(waiter.id) === waiter) return true;
  return false;
}

/** Those that wait no more are forgotten once they are the most of what is remembered. */
function countingOn(state: PoolState): Set<Waiter> {
  let those = counting.get(state);
  if (!those) counting.set(state, (those = new Set<Waiter>()));
  if (those.size > 2 * state.waiting.size + 64)
    for (const waiter of those) if (state.waiting.get(waiter.id) !== waiter) those.delete(waiter);
  return those;
}

/** What keeps it waiting is not room alone: that may go without any node being touched. */
export function forgetNoRoom(waiter: Waiter): void {
  failures.delete(waiter);
}

/** Whether there may be room for it that there was not when it was last looked at. */
export function mayHaveRoom(
  state: PoolState,
  waiter: Waiter,
  { booking, now }: { readonly booking: ResolvedBooking; readonly now: number },
): boolean {
  const failure = failures.get(waiter);
  if (!failure || failure.state !== state || failure.config !== state.config) return true;
  const { request, config } = booking;
  const later = request.spot ? null : afterNotice(config, request, now);
  if (later && isOverdue(failure.noticeEnd, later.start, now)) return true;
  const touched = entriesOf(state, state.touchedSince(failure.revision));
  if (touched.length === 0) return false;
  const plan = planOf(state, request);
  if (touched.some((entry) => causeOf(plan, entry, request) === null)) return true;
  return later !== null && touched.some((entry) => takesOneAfterNotice(state, entry, later));
}

/**
 * The end of a notice moves on with the clock, past ends of bookings that were in the way before it, and no node is
 * touched by that. It is looked at in full again once a tenth of the notice has passed.
 */
function isOverdue(was: number | null, noticeEnd: number, now: number): boolean {
  return was !== null && noticeEnd > was && noticeEnd - was >= (noticeEnd - now) / 10;
}

function entriesOf(state: PoolState, ids: ReadonlySet<NodeId>): NodeEntry[] {
  return [...ids].flatMap((id) => state.entry(id) ?? []);
}

/** Whether it could take one member if every spot booking on it were given notice. */
function takesOneAfterNotice(state: PoolState, entry: NodeEntry, later: PlaceRequest): boolean {
  const spot = state.preemptible();
  const gone = [...entry.calendar.holders()]
    .flatMap((id) => spot.get(id) ?? [])
    .filter(({ start, end }) => start < later.end && end > later.start);
  const without = nodeWithout(state, entry, { gone, from: later.start });
  return causeOf(planOf(state, later), without, later) === null;
}
