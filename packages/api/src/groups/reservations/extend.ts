/** Moves a reservation's end on, on the units that it has. */
import { extendReservation, extendedReservation, ok } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { readPool } from "../capacity/read-pool.ts";
import { changeReservation } from "./change-reservation.ts";
import { reservationView, stateLookup } from "./view.ts";

export const extend: Handler<"reservations.extend"> = {
  async run(call, input, scope) {
    const { reservationId, end, version } = input;
    const { tenantId, ancestors } = scope;
    const ask = { tenantId, ancestors, reservationId, end, version };

    // 1. A dry run asks the same rule at a committed state and writes nothing.
    if (input.dryRun === true) {
      const read = await readPool(call, scope.pool.poolId, (state, now) => {
        const extended = extendedReservation(state, now, ask);
        return extended.ok ? ok(reservationView(extended.value, stateLookup(state))) : extended;
      });
      return read.value;
    }

    // 2. The extension.
    return changeReservation(call, scope, (turn) => extendReservation(turn, ask));
  },
};
