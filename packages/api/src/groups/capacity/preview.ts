/** Whether a request fits, where, and if not why and when. Reads only: nothing here can reach the gate. */
import { previewBooking } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { bookingAsk, bookingIssues } from "../reservations/booking-ask.ts";
import { readPool } from "./read-pool.ts";
import { previewView } from "./view.ts";

export const preview: Handler<"capacity.preview"> = {
  check: bookingIssues,

  async run(call, input, scope) {
    // 1. What the request asks for, as create takes it.
    const ask = bookingAsk(call, input, scope);

    // 2. The placer, at a committed state in which nothing is over.
    const read = await readPool(call, scope.pool.poolId, (state, now) =>
      previewBooking(state, now, ask),
    );

    // 3. The answer, and what time it is true at.
    return previewView(read.value, read.now);
  },
};
