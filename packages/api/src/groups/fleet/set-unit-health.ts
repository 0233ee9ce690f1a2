/** Says whether a unit is sound; answers its node. */
import { setUnitHealth as rule } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { changeNode, nodeAsk } from "./change-node.ts";

export const setUnitHealth: Handler<"fleet.setUnitHealth"> = {
  run(call, input, scope) {
    const { unitId, healthy } = input;
    return changeNode(call, scope, (turn) =>
      rule(turn, { ...nodeAsk(scope, input), unitId, healthy }),
    );
  },
};
