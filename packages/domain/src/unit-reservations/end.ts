/** How a unit reservation ends: its units are everybody's again, and bookings on them live on as they are. */
import { settleNode } from "../fleet/settle.ts";
import type { UnitReservation } from "../claims.ts";
import { type Result, ok } from "../refusal.ts";
import { mindNode } from "../reservations/heal.ts";
import type { Turn } from "../turn.ts";
import { changeTerm } from "./events.ts";
import type { TermAsk } from "./find.ts";

/** Ends it now, begun or not. Null when it was over before: it is answered as it is stored. */
export function cancelUnitReservation(turn: Turn, ask: TermAsk): Result<UnitReservation | null> {
  const before = turn.state.unitReservation(ask.unitReservationId);
  if (before?.nodeId !== ask.nodeId) return ok(null);
  return ok(endTerm(turn, before, { status: "cancelled", at: turn.now }));
}

/** Nothing of it is on the spot market any more. A unit that was kept for its sake alone goes. */
export function endTerm(
  turn: Turn,
  before: UnitReservation,
  { status, at }: { readonly status: "cancelled" | "expired"; readonly at: number },
): UnitReservation {
  const ended = { status, releasedUnitIds: [], endedAt: at, updatedAt: at };
  const after: UnitReservation = { ...before, ...ended };
  changeTerm(turn, `unitReservation.${status}`, { before, after });
  settleNode(turn, before.nodeId);
  if (before.status === "needs-review") mindNode(turn, before.nodeId);
  return after;
}
