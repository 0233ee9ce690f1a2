/** Group `events`: what happened, in an order that can be resumed. */
import { EVENT_TYPES } from "@berth/domain";
import { z } from "zod";
import {
  LIMITS,
  amount,
  anyTenantId,
  cursorText,
  id,
  limit,
  list,
  map,
  nextCursor,
  poolId,
  reservationId,
  tenantId,
  text,
  time,
} from "./common.ts";

export const event = z
  .object({
    id: id("evt").describe("The event's id."),
    cursor: cursorText.describe("Its place in the order; give it as `after` to go on from here."),
    type: z
      .enum(EVENT_TYPES)
      .meta({ id: "EventType", description: "What happened. Releases add types." })
      .describe("What happened."),
    at: time.describe("When, milliseconds since the epoch."),
    tenantId: anyTenantId.describe("The tenant that reads it."),
    poolId: poolId.nullable().describe("The pool concerned, or null."),
    seq: amount().nullable().describe("The pool's sequence number of the change, or null."),
    data: map(text(), z.unknown(), 256).describe(
      "What of it this tenant may see; its fields go by `type`.",
    ),
  })
  .meta({ id: "Event", description: "Something that happened, as one tenant may see it." });

export const events = {
  list: {
    input: z
      .strictObject({
        tenantId,
        poolId: poolId.optional().describe("Only events of this pool."),
        reservationId: reservationId.optional().describe("Only events of this reservation."),
        after: cursorText
          .optional()
          .describe("Only events after this cursor; absent: from the oldest kept."),
        limit,
      })
      .meta({ id: "ListEventsInput", description: "Which events to list." }),
    output: z
      .object({
        events: list(event, LIMITS.page).describe("In order, oldest first."),
        nextCursor: nextCursor.describe(
          "Give it as `after` for what follows; null: you have all there is.",
        ),
      })
      .meta({ id: "EventPage", description: "A page of events." }),
  },
};
