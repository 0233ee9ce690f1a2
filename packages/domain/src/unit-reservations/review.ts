/** What a unit reservation makes of a node whose GPUs are other ones than those it was written for. */
import type { NodeId } from "../ids.ts";
import type { UnitReservation } from "../claims.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import { mindNode } from "../reservations/heal.ts";
import type { Turn } from "../turn.ts";
import { changeTerm } from "./events.ts";
import { type TermAsk, findStanding } from "./find.ts";
import { whyNot } from "./qualify.ts";

/** To be called in the write that may have raised the node's topology generation, after it. */
export function reviewUnitReservations(turn: Turn, nodeId: NodeId): void {
  const gen = turn.state.node(nodeId)?.topologyGen;
  let changed = false;
  for (const before of turn.state.unitReservationsOn(nodeId)) {
    if (before.topologyGen === gen || before.status === "needs-review") continue;
    const after: UnitReservation = { ...before, status: "needs-review", updatedAt: turn.now };
    changeTerm(turn, "unitReservation.needsReview", { before, after });
    changed = true;
  }
  if (changed) mindNode(turn, nodeId);
}

/**
 * An operator has looked at the node: the reservation holds for it as it is now, if every unit is still
 * there and qualifies. One that needs no review stays as it is.
 */
export function reaffirmUnitReservation(turn: Turn, ask: TermAsk): Result<UnitReservation> {
  const found = findStanding(turn.state, ask);
  if (!found.ok || found.value.status !== "needs-review") return found;
  const before = found.value;
  const node = turn.state.node(ask.nodeId);
  if (!node) return refuse({ code: "NOT_FOUND" });
  for (const unitId of before.unitIds) {
    const wrong = whyNot(node, unitId);
    if (wrong !== null) return refuse({ code: "INVALID_STATE", message: wrong });
  }
  const after: UnitReservation = {
    ...before,
    status: before.startsAt <= turn.now ? "active" : "pending",
    topologyGen: node.topologyGen,
    updatedAt: turn.now,
  };
  changeTerm(turn, "unitReservation.reaffirmed", { before, after });
  mindNode(turn, node.id);
  return ok(after);
}
