/** Puts set-aside units on the spot market. */
import { releaseUnits } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { changeAtNode, termAsk } from "./at-node.ts";
import { unitReservationView } from "./view.ts";

export const release: Handler<"unitReservations.release"> = {
  async run(call, input, scope) {
    const ask = { ...termAsk(scope, input), unitIds: input.unitIds };
    return unitReservationView(await changeAtNode(call, scope, (turn) => releaseUnits(turn, ask)));
  },
};
