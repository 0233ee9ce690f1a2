/** Says whether a node can take bookings. */
import { setNodeState as rule } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { changeNode, nodeAsk } from "./change-node.ts";

export const setNodeState: Handler<"fleet.setNodeState"> = {
  run: (call, input, scope) =>
    changeNode(call, scope, (turn) => rule(turn, { ...nodeAsk(scope, input), state: input.state })),
};
