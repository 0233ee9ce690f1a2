/** The states of a reservation and every way from one to the next, as one table. */
import { LIVE_STATES, type LiveState, type ReservationState } from "./model.ts";
import { invariant } from "./refusal.ts";

export type Trigger =
  /** The window begins. */
  | "start"
  /** The window is over. */
  | "complete"
  /** The lease was not renewed in time. */
  | "lapse"
  /** Its tenant lets it go. */
  | "release"
  /** The pool's owner or an operator ends it. */
  | "terminate"
  /** It is told that it will be preempted. */
  | "notice"
  /** That notice is over, or there was no time for one. */
  | "preempt"
  /** Whoever needed its room gave up. */
  | "reprieve"
  /** The same, before it has begun. */
  | "reprieveUnbegun";

/** A trigger that a state does not list is not possible there; a state without any never changes again. */
export const TRANSITIONS: Readonly<
  Record<ReservationState, Partial<Record<Trigger, ReservationState>>>
> = {
  scheduled: {
    start: "active",
    release: "released",
    terminate: "terminated",
    notice: "preempting",
    preempt: "preempted",
  },
  active: {
    complete: "completed",
    lapse: "expired",
    release: "released",
    terminate: "terminated",
    notice: "preempting",
    preempt: "preempted",
  },
  preempting: {
    reprieve: "active",
    reprieveUnbegun: "scheduled",
    preempt: "preempted",
    lapse: "expired",
    release: "released",
    terminate: "terminated",
  },
  completed: {},
  released: {},
  expired: {},
  preempted: {},
  terminated: {},
};

/** Whether it holds its units. */
export function isLive(state: ReservationState): state is LiveState {
  return (LIVE_STATES as readonly ReservationState[]).includes(state);
}

/** The state that follows. Asking for a way that the table does not have is a fault of the program. */
export function follow(state: ReservationState, trigger: Trigger): ReservationState {
  const next = TRANSITIONS[state][trigger];
  invariant(next !== undefined, `a reservation that is ${state} has no way for "${trigger}"`);
  return next;
}
