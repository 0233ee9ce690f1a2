/** Moves a node into a pool of its owner, to another one, or into none. */
import { type GateId, moveNode } from "@berth/domain";
import { poolInScope } from "../../access/scope.ts";
import type { Handler } from "../../call.ts";
import { ApiError, fromRefusal, notFound } from "../../errors.ts";
import { visiblePool } from "../../visibility.ts";
import { nodeAsk } from "./change-node.ts";
import { GONE, following } from "./find-again.ts";
import { readNode } from "./read-node.ts";
import { nodeView } from "./view.ts";

export const assignNode: Handler<"fleet.assignNode"> = {
  async run(call, input, found) {
    const { poolId } = input;

    // 1. The pool is the node's owner's, and in the key's reach.
    if (poolId !== null) {
      const pool = await visiblePool(call, found, poolId);
      if (!pool?.owned || !poolInScope(call.principal, poolId))
        throw notFound("the pool is not the node's owner's, or outside the key's");
    } else if (!poolInScope(call.principal, null))
      throw new ApiError("FORBIDDEN", { message: "This key is limited to its pools." });

    return following(call, found, async (scope) => {
      const { node } = scope;

      // 2. Where it is already it stays as it is.
      if (poolId === node.poolId) return readNode(call, scope);

      // 3. Out of the one gate and into the other, in one write.
      const to: GateId = poolId ?? node.id;
      const committed = await call.deps.engine.move({
        from: node.gateId,
        to,
        create: poolId === null,
        plan: (leaving, entering) => moveNode(leaving, entering, nodeAsk(scope, input)),
      });
      const moved = committed.value;
      if (!moved.ok && moved.refusal.code === "NOT_FOUND") return GONE;
      if (!moved.ok) throw fromRefusal(moved.refusal);
      if (poolId !== null) call.answer.seq = committed.seq;
      return nodeView(moved.value, poolId);
    });
  },
};
