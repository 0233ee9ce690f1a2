/** What happened to the tenant's things, oldest first. */
import type { Handler } from "../../call.ts";
import { decodeEventCursor, encodeEventCursor, epochOf } from "./cursor.ts";
import { readFeed } from "./feed.ts";

export const list: Handler<"events.list"> = {
  async run({ deps: { db }, principal }, input, { tenantId }) {
    // 1. Where to go on from.
    const { after, poolId, reservationId, limit } = input;
    const epoch = await epochOf(db);
    const place = after === undefined ? null : decodeEventCursor(epoch, after);

    // 2. The next events; a narrowed key sees its pools' only.
    const poolIds = principal.scope?.poolIds;
    const page = await readFeed(db, { tenantId, poolId, reservationId, poolIds, limit }, place);
    return {
      events: [...page.events],
      nextCursor: page.next && encodeEventCursor(epoch, page.next),
    };
  },
};
