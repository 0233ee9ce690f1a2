/** Takes a node out of the fleet; answers it as it last was. */
import { removeNode as rule } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { changeNode, nodeAsk } from "./change-node.ts";

export const removeNode: Handler<"fleet.removeNode"> = {
  run: (call, input, scope) => changeNode(call, scope, (turn) => rule(turn, nodeAsk(scope, input))),
};
