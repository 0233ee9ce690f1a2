/** Somebody who watches through the published client, and the list that it is held against. */
import type { Berth, Event } from "@berth/client";

/** What `follow`'s signal is to be aborted with. */
export const STOPPED = new Error("the test stops it");

export interface Followed {
  readonly events: Event[];
  /** Milliseconds from the event's `at` to its arrival. */
  readonly delays: number[];
  /** Resolves with what ended it. */
  readonly ended: Promise<unknown>;
}

/** Watches t-a until the signal fires; the client comes back by itself, however often it is cut off. */
export function follow(
  berth: Berth,
  from: { lastEventId?: string | undefined },
  signal: AbortSignal,
): Followed {
  const events: Event[] = [];
  const delays: number[] = [];
  const run = async (): Promise<unknown> => {
    try {
      for await (const event of berth.reservations.watch(
        { tenantId: "t-a", ...from },
        { signal },
      )) {
        events.push(event);
        delays.push(Date.now() - event.at);
      }
      return "it ended by itself";
    } catch (error) {
      return error;
    }
  };
  return { events, delays, ended: run() };
}

/** All that t-a is told of after the cursor, in the order of `events.list`. */
export async function everyEvent(berth: Berth, start: string | undefined): Promise<Event[]> {
  const events: Event[] = [];
  for (let after = start; ;) {
    const page = await berth.events.list({ tenantId: "t-a", limit: 200, after });
    events.push(...page.events);
    if (page.nextCursor === null) return events;
    after = page.nextCursor;
  }
}
