/** What comes of room that was freed: those who lack it are tried again before any newcomer is. */
import type { Turn } from "../turn.ts";
import { healDegraded } from "./heal.ts";
import { someCountOnRoom } from "./second-look.ts";
import { serveWaiters } from "./waiters.ts";

/** Bookings that stand on what failed come first: they were promised theirs. Ends when nothing is freed any more. */
export function useFreed(turn: Turn): void {
  if (someCountOnRoom(turn.state)) serveWaiters(turn);
  while (turn.takeFreed()) {
    healDegraded(turn);
    serveWaiters(turn);
  }
}
