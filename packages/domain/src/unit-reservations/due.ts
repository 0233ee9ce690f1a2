/** What time does to a unit reservation: its term begins, and it ends. */
import { invariant } from "../refusal.ts";
import type { DueItem } from "../state/due-queue.ts";
import type { Turn } from "../turn.ts";
import { endTerm } from "./end.ts";
import { changeTerm } from "./events.ts";

/** A term that begins becomes active; one that is over has expired, whatever state it was in. */
export function applyTerm(
  turn: Turn,
  item: Extract<DueItem, { unitReservationId: unknown }>,
): void {
  const before = turn.state.unitReservation(item.unitReservationId);
  invariant(before, "a term that is due is a standing one's");
  if (item.kind === "unitReservationEnd") endTerm(turn, before, { status: "expired", at: item.at });
  else {
    const after = { ...before, status: "active" as const, updatedAt: item.at };
    changeTerm(turn, "unitReservation.activated", { before, after });
  }
}
