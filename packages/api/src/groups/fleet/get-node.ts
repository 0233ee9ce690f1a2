/** One node with its units. */
import type { Handler } from "../../call.ts";
import { readNode } from "./read-node.ts";
import { addressed } from "./view.ts";

export const getNode: Handler<"fleet.getNode"> = {
  run: async (call, _input, scope) =>
    addressed(call, scope, { node: scope.node, view: await readNode(call, scope) }),
};
