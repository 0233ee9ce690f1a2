/** Lets a unit reservation hold for its node as it is now. */
import { reaffirmUnitReservation } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { changeAtNode, termAsk } from "./at-node.ts";
import { unitReservationView } from "./view.ts";

export const reaffirm: Handler<"unitReservations.reaffirm"> = {
  async run(call, input, scope) {
    const ask = termAsk(scope, input);
    return unitReservationView(
      await changeAtNode(call, scope, (turn) => reaffirmUnitReservation(turn, ask)),
    );
  },
};
