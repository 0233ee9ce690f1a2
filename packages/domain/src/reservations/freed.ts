/** What comes of room that was freed: those who lack it are tried again before any newcomer is. */
import type { Turn } from "../turn.ts";
import { healDegraded } from "./heal.ts";
import { someCountOnRoom } from "./second-look.ts";
import { serveWaiters } from "./waiters.ts";

/** Bookings that stand on what failed come first: they were promised theirs. Ends when nothing is freed any more. */
export function useFreed(turn: Turn): void {
  let isTaken = someCountOnRoom(turn.state);
  for (let freed = turn.takeFreed(); freed || isTaken; freed = turn.takeFreed()) {
    if (freed) healDegraded(turn);
    // Who is served may take what somebody before it in line counts on.
    isTaken = serveWaiters(turn) && someCountOnRoom(turn.state);
  }
}
