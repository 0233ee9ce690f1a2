/** Ends a unit reservation now; one that is over is answered as it is. */
import { cancelUnitReservation } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { changeAtNode, termAsk } from "./at-node.ts";
import { storedUnitReservation } from "./stored.ts";
import { unitReservationView } from "./view.ts";

export const cancel: Handler<"unitReservations.cancel"> = {
  async run(call, input, scope) {
    const ask = termAsk(scope, input);
    const ended = await changeAtNode(call, scope, (turn) => cancelUnitReservation(turn, ask));
    if (ended) return unitReservationView(ended);
    return storedUnitReservation(call, scope, input.reservationId);
  },
};
