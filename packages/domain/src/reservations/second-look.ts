/**
 * Who found no room is looked at again only where something was given back since: with many in line, each
 * release would otherwise cost a search of the whole pool for each of them.
 */
import type { NodeId } from "../ids.ts";
import type { Waiter } from "../claims.ts";
import type { PlaceRequest, PoolConfig } from "../model.ts";
import { causeOf } from "../placer/fit.ts";
import { planOf } from "../placer/plan.ts";
import { without } from "../placer/victims.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import { afterNotice } from "./preempt.ts";
import type { ResolvedBooking } from "./request.ts";

/** Where a waiter found no room: everything that was touched later may have some. */
interface Failure {
  readonly state: PoolState;
  readonly config: PoolConfig | null;
  readonly revision: number;
}

/** Only ever saves time: what is not known is looked at in full. */
const failures = new WeakMap<Waiter, Failure>();

/** It was looked at in full, or as good as, and there is no room for it. */
export function noteNoRoom(state: PoolState, waiter: Waiter): void {
  const { config, revision } = state;
  failures.set(waiter, { state, config, revision });
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
  const touched = entriesOf(state, state.touchedSince(failure.revision));
  if (touched.length === 0) return false;
  const { request, config } = booking;
  const plan = planOf(state, request);
  if (touched.some((entry) => causeOf(plan, entry, request) === null)) return true;
  if (request.spot) return false;
  const later = afterNotice(config, request, now);
  return touched.some((entry) => takesOneAfterNotice(state, entry, later));
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
  return without(state, { gone, from: later.start }, () => {
    return causeOf(planOf(state, later), entry, later) === null;
  });
}
