/** The tenant's events as they happen: what events.list answers, in its order, each once. */
import type { Handler } from "../../call.ts";

export const watch: Handler<"reservations.watch"> = {
  run({ deps: { feed }, principal, signal, recheck, hangUp }, input, { tenantId }) {
    const { poolId, reservationId, lastEventId } = input;
    // A narrowed key is told of its pools only.
    const poolIds = principal.scope?.poolIds;
    return feed.watch(
      { tenantId, poolId, reservationId, poolIds, cursor: lastEventId },
      { principalId: principal.id, signal, recheck, hangUp },
    );
  },
};
