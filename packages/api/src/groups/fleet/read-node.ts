/** A node of a committed state in which nothing is due. */
import type { Node, PoolState } from "@berth/domain";
import type { Call, NodeScope } from "../../call.ts";
import { GONE, following } from "./find-again.ts";
import { type NodeView, nodeViewFor, seesWhole } from "./view.ts";

/** Reads at the node's gate. @throws ApiError NOT_FOUND when the node is gone */
export function readAtNode<T>(
  call: Call,
  found: NodeScope,
  read: (state: PoolState, at: { node: Node; now: number; scope: NodeScope }) => T,
): Promise<T> {
  return following(call, found, async (scope) => {
    const { id, gateId, poolId } = scope.node;
    const committed = await call.deps.engine.read<T | typeof GONE>(gateId, (state, now) => {
      const node = state.node(id);
      return node ? read(state, { node, now, scope }) : GONE;
    });
    if (!committed) return GONE;
    if (committed.value !== GONE && poolId) call.answer.seq = committed.seq;
    return committed.value;
  });
}

export function readNode(call: Call, found: NodeScope): Promise<NodeView> {
  return readAtNode(call, found, (state, { node, now, scope }) => {
    const whole = seesWhole(call, scope, scope.node);
    const { poolId } = scope.node;
    return nodeViewFor(state, node, { poolId, tenantId: scope.tenantId, now, whole });
  });
}
