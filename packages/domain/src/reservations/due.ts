/**
 * Applies what time does to a pool: starts, ends, lapses, notices of an end, maintenance,
 * terms of unit reservations, deadlines of those who wait.
 */
import { applyMaintenance } from "../fleet/maintenance.ts";
import { takePendingLayouts } from "../fleet/settle.ts";
import type { ReservationId } from "../ids.ts";
import type { Reservation } from "../model.ts";
import { follow } from "../lifecycle.ts";
import { invariant } from "../refusal.ts";
import type { DueItem } from "../state/due-queue.ts";
import type { Turn } from "../turn.ts";
import { applyTerm } from "../unit-reservations/due.ts";
import { PREEMPTED, endReservation } from "./end.ts";
import { change, tell } from "./events.ts";
import { healUntried, tellIfDegraded } from "./heal.ts";

/**
 * Everything that is due at the turn's `now`, in the order in which it should have happened; at one
 * instant ends come before starts. Each is dated by its own instant, however late it is applied, and
 * applying it takes it off what is due, so a second time does nothing.
 */
export function applyDue(turn: Turn): void {
  for (let item = turn.state.due(turn.now); item; item = turn.state.due(turn.now)) {
    if ("reservationId" in item) applyToReservation(turn, item);
    else if ("maintenanceId" in item) applyMaintenance(turn, item);
    else if ("unitReservationId" in item) applyTerm(turn, item);
    else giveUpWaiting(turn, item.waiterId);
  }
  takePendingLayouts(turn);
  healUntried(turn);
}

function applyToReservation(turn: Turn, item: Extract<DueItem, { reservationId: unknown }>): void {
  const reservation = turn.state.reservation(item.reservationId);
  invariant(reservation, "what is due is due to a live reservation");
  switch (item.kind) {
    case "start":
      return start(turn, reservation, item.at);
    case "end":
      return complete(turn, reservation);
    case "lease":
      return lapse(turn, reservation, item.at);
    case "endingSoon":
      return warn(turn, reservation);
  }
}

function start(turn: Turn, before: Reservation, at: number): void {
  const after: Reservation = {
    ...before,
    // One that is under notice begins as well, and stays under notice.
    state: before.state === "scheduled" ? follow(before.state, "start") : before.state,
    startedAt: at,
    pins: [],
    version: before.version + 1,
    updatedAt: at,
  };
  change(turn, "reservation.activated", { before, after });
  tellIfDegraded(turn, after);
}

/** Its window is over, or the notice that cut it. */
function complete(turn: Turn, before: Reservation): void {
  if (before.state === "preempting") {
    endReservation(turn, before, { trigger: "preempt", at: before.end, reason: PREEMPTED });
    return;
  }
  endReservation(turn, before, {
    trigger: "complete",
    at: before.end,
    reason: "its time was over",
  });
}

/** A lease that ran to the booking's very end was kept: the booking is complete. */
function lapse(turn: Turn, before: Reservation, at: number): void {
  if (at >= before.end) return complete(turn, before);
  endReservation(turn, before, {
    trigger: "lapse",
    at,
    reason: "its lease was not renewed in time",
  });
}

/** Its version stays: nothing about the booking has changed. */
function warn(turn: Turn, before: Reservation): void {
  const after: Reservation = { ...before, endingSoonAt: null };
  turn.apply({ kind: "reservation", before, after });
  tell(turn, "reservation.endingSoon", after);
}

function giveUpWaiting(turn: Turn, waiterId: ReservationId): void {
  const before = turn.state.waiting.get(waiterId);
  invariant(before, "a deadline that is due is a waiter's");
  turn.apply({ kind: "waiter", before, after: null });
}
