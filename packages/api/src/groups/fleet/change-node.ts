/** One change of a node through its gate: what the methods about one node share. */
import type { Input } from "@berth/contract";
import type { Node, NodeId, Result, TenantId, Turn } from "@berth/domain";
import type { Call, NodeScope } from "../../call.ts";
import { fromRefusal } from "../../errors.ts";
import { type NodeView, nodeView } from "./view.ts";

export interface NodeAsk {
  readonly nodeId: NodeId;
  readonly ownerId: TenantId;
  readonly version: number | undefined;
}

export function nodeAsk(
  { node }: NodeScope,
  input: Pick<Input<"fleet.setNodeState">, "version">,
): NodeAsk {
  return { nodeId: node.id, ownerId: node.tenantId, version: input.version };
}

/** Plans at the node's gate and writes. @throws ApiError when the rule refuses */
export async function atNode<T>(
  call: Call,
  { node, tenantId }: NodeScope,
  plan: (turn: Turn) => Result<T>,
): Promise<T> {
  const committed = await call.deps.engine.submit(node.gateId, {
    name: call.method,
    tenantId,
    signal: call.signal,
    plan,
  });
  if (node.poolId) call.answer.seq = committed.seq;
  if (!committed.value.ok) throw fromRefusal(committed.value.refusal);
  return committed.value.value;
}

export async function changeNode(
  call: Call,
  scope: NodeScope,
  plan: (turn: Turn) => Result<Node>,
): Promise<NodeView> {
  return nodeView(await atNode(call, scope, plan), scope.node.poolId);
}
