/** One node with its units. */
import type { Handler } from "../../call.ts";
import { readNode } from "./read-node.ts";
import { nodeView } from "./view.ts";

export const getNode: Handler<"fleet.getNode"> = {
  run: async (call, _input, { node }) => nodeView(await readNode(call, node), node.poolId),
};
