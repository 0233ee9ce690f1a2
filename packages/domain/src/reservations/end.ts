/** The one way in which a live reservation ends, and what its end sets free. */
import { settleNode } from "../fleet/settle.ts";
import { follow } from "../lifecycle.ts";
import type { Preemption, Reservation } from "../model.ts";
import type { Turn } from "../turn.ts";
import { type ReservationEvent, change } from "./events.ts";
import { pinWhatIsFreed, reprieveVictims } from "./early-leave.ts";

export type EndTrigger = "complete" | "lapse" | "preempt" | "release" | "terminate";

const EVENTS: Readonly<Record<EndTrigger, ReservationEvent>> = {
  complete: "reservation.completed",
  lapse: "reservation.expired",
  preempt: "reservation.preempted",
  release: "reservation.released",
  terminate: "reservation.terminated",
};

export const PREEMPTED = "a regular booking needed its room";

export interface Ending {
  readonly trigger: EndTrigger;
  readonly at: number;
  readonly reason: string;
  /** Of one that ends for another's sake without a notice. */
  readonly preemption?: Preemption;
}

/** Ends it: it holds nothing from `at` on, and its nodes take what waited for that. */
export function endReservation(turn: Turn, before: Reservation, how: Ending): Reservation {
  const after = letGo(turn, before, how);
  settleNodesOf(turn, after);
  return after;
}

/** Ends it, and leaves its nodes as they are for whoever takes its place; then `settleNodesOf` follows. */
export function letGo(turn: Turn, before: Reservation, how: Ending): Reservation {
  const after: Reservation = {
    ...before,
    state: follow(before.state, how.trigger),
    preemption: how.preemption ?? before.preemption,
    endingSoonAt: null,
    endedAt: how.at,
    endReason: how.reason,
    version: before.version + 1,
    updatedAt: how.at,
  };
  change(turn, EVENTS[how.trigger], { before, after });
  if (how.at < before.end) pinWhatIsFreed(turn, after, how.at);
  if (before.startedAt === null) reprieveVictims(turn, before.id);
  return after;
}

export function settleNodesOf(turn: Turn, ended: Reservation): void {
  for (const nodeId of new Set(ended.members.map((member) => member.nodeId)))
    settleNode(turn, nodeId);
}
