/** Makes a node free to leave its gate: what has not begun on it moves elsewhere, what has stays and forbids it. */
import type { NodeId, ReservationId } from "../ids.ts";
import type { Node } from "../model.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import { heal } from "../reservations/heal.ts";
import { rehouseOff } from "../reservations/rehouse.ts";
import { LOOKS_A_CALL, hasTimeFor, healingOf, mayLook } from "../reservations/tries.ts";
import type { Turn } from "../turn.ts";

/**
 * Answers the node as it is when it is empty: it may have taken a new layout, or lost a missing device.
 * Refused with INVALID_STATE while a booking that has begun, or is under notice, holds something of the
 * node, and when one that has not begun finds no room elsewhere; some may have moved by then, so a caller
 * that is refused takes its turn back.
 */
export function emptyNode(turn: Turn, node: Node): Result<Node> {
  const held = turn.state.reservationsOn(node.id);
  const staying = held.filter(({ state }) => state !== "scheduled").length;
  if (staying > 0)
    return refused(
      `${bookings(staying)} units of node ${node.name}: end them or wait for their end`,
    );
  healingOf(turn).looksMax = LOOKS_A_CALL;
  let left = held.toSorted((a, b) => a.start - b.start).map(({ id }) => id);
  while (left.length > 0) {
    // Each one that goes may make room for another.
    const still = left.filter((id) => !moveOff(turn, node.id, id));
    if (still.length === left.length) return refused(whyStuck(turn, node, still));
    left = still;
  }
  return ok(turn.state.node(node.id) ?? node);
}

function moveOff(turn: Turn, leaving: NodeId, id: ReservationId): boolean {
  const reservation = turn.state.reservation(id);
  const node = turn.state.node(leaving);
  if (!reservation || !node || !mayLook(turn, reservation)) return false;
  const found = rehouseOff(turn.state, reservation, node);
  return found.ok && heal(turn, reservation, found.value);
}

function whyStuck(turn: Turn, { name, state }: Node, left: readonly ReservationId[]): string {
  const what = `${bookings(left.length)} units of node ${name} later on`;
  const [first] = left.flatMap((id) => turn.state.reservation(id) ?? []);
  if (!first || hasTimeFor(turn, first))
    return `${what} and would not fit elsewhere: end them, or make room in the pool`;
  return state === "ready"
    ? `${what}, too many to be moved at once: make it unhealthy first, which moves them little by little`
    : `${what}, too many to be moved at once: try again when most of them are elsewhere`;
}

function bookings(count: number): string {
  return count === 1 ? "1 booking holds" : `${count} bookings hold`;
}

function refused(message: string): Result<never> {
  return refuse({ code: "INVALID_STATE", message });
}
