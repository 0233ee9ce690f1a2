/** The order of the table. Pure. */
import type { Reservation } from "@berth/client";
import { isOver } from "../../access/state.ts";

type Placed = Pick<Reservation, "state" | "start" | "end" | "endedAt">;

/** What runs first, the soonest to end before the others; then what comes, by its start; then what is over, latest first. */
export function inOrder<R extends Placed>(reservations: readonly R[]): R[] {
  return reservations.toSorted((a, b) => rank(a) - rank(b) || within(a, b));
}

function rank(reservation: Placed): number {
  if (isOver(reservation)) return 2;
  return reservation.state === "scheduled" ? 1 : 0;
}

/** Of two of the same rank. */
function within(a: Placed, b: Placed): number {
  if (isOver(a)) return (b.endedAt ?? b.end) - (a.endedAt ?? a.end);
  return a.state === "scheduled" ? a.start - b.start : a.end - b.end;
}

/** How far ahead the table looks, ms. */
export const WITHIN = { "24h": 86_400_000, "7d": 604_800_000, "30d": 2_592_000_000 } as const;
export type Within = keyof typeof WITHIN;

const HOUR_MS = 3_600_000;

/** The time that the list is asked for: it moves by the hour, not with each look at the clock. */
export function windowOf(
  chosen: Within | undefined,
  now: number,
): { readonly from?: number; readonly to?: number } {
  if (chosen === undefined) return {};
  const from = Math.floor(now / HOUR_MS) * HOUR_MS;
  return { from, to: from + WITHIN[chosen] };
}
