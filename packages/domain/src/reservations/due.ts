/** Applies what time does to a pool: starts, ends, lapses, notices of an end, maintenance. */
import { tellOfNode, windowFacts } from "../fleet/events.ts";
import type { Reservation } from "../model.ts";
import { follow } from "../lifecycle.ts";
import { invariant } from "../refusal.ts";
import type { DueItem } from "../state/due-queue.ts";
import type { Turn } from "../turn.ts";
import { endReservation } from "./end.ts";
import { change, tell } from "./events.ts";

/**
 * Everything that is due at the turn's `now`, in the order in which it should have happened; at one
 * instant ends come before starts. Each is dated by its own instant, however late it is applied, and
 * applying it takes it off what is due, so a second time does nothing.
 */
export function applyDue(turn: Turn): void {
  for (let item = turn.state.due(turn.now); item; item = turn.state.due(turn.now)) {
    if ("nodeId" in item) applyMaintenance(turn, item);
    else applyToReservation(turn, item);
  }
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
    state: follow(before.state, "start"),
    version: before.version + 1,
    updatedAt: at,
  };
  change(turn, "reservation.activated", { before, after });
}

function complete(turn: Turn, before: Reservation): void {
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

/** Told to the node's owner and to the tenants whose bookings the window touches. */
function applyMaintenance(turn: Turn, item: Extract<DueItem, { nodeId: unknown }>): void {
  const before = turn.state.node(item.nodeId);
  invariant(before, "maintenance is due on a node of the gate");
  const window = before.maintenance.find(({ id }) => id === item.maintenanceId);
  invariant(window, "a window that is due is its node's");
  const starts = item.kind === "maintenanceStart";
  const maintenance = starts
    ? before.maintenance.map((w) => (w.id === window.id ? { ...w, active: true } : w))
    : before.maintenance.filter((w) => w.id !== window.id);
  const node = { ...before, maintenance, version: before.version + 1 };
  turn.apply({ kind: "node", before, after: node });
  const touched = turn.state
    .reservationsOn(node.id)
    .filter(({ start, end }) => start < window.end && end > window.start);
  tellOfNode(turn, {
    type: starts ? "maintenance.started" : "maintenance.ended",
    node,
    touched,
    more: windowFacts(window),
  });
}
