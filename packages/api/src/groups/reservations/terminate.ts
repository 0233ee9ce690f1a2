/** Ends another tenant's reservation, with a reason that its tenant reads. */
import { terminateReservation } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { changeReservation, namedReservation } from "./change-reservation.ts";
import { withoutAddresses } from "./view.ts";

export const terminate: Handler<"reservations.terminate"> = {
  async run(call, input, scope) {
    // 1. It ends now. That the caller is the pool's owner or an operator was decided before.
    const { reservationId, reason, version } = input;
    const view = await changeReservation(call, scope, (turn) =>
      terminateReservation(turn, { reservationId, reason, version }),
    );

    // 2. The answer, without what is only for the tenant that had booked.
    const own = namedReservation(scope).tenantId === scope.tenantId;
    return own ? view : withoutAddresses(view);
  },
};
