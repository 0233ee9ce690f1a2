/** One change of a node through its gate: what the methods about one node share. */
import type { Input } from "@berth/contract";
import { type Node, type NodeId, type Result, type Turn, ok } from "@berth/domain";
import type { Call, NodeScope } from "../../call.ts";
import { fromRefusal } from "../../errors.ts";
import { GONE, following } from "./find-again.ts";
import { type NodeView, nodeView } from "./view.ts";

export interface NodeAsk {
  readonly nodeId: NodeId;
  readonly version: number | undefined;
}

export function nodeAsk(
  { node }: NodeScope,
  input: Pick<Input<"fleet.setNodeState">, "version">,
): NodeAsk {
  return { nodeId: node.id, version: input.version };
}

interface Placed<T> {
  readonly value: T;
  /** Where the node was found. */
  readonly scope: NodeScope;
}

interface Step<T> {
  readonly plan: (turn: Turn) => Result<T>;
  /** Nothing of it is written. */
  readonly dryRun?: boolean;
}

/** Plans at the node's gate and writes. @throws ApiError when the rule refuses */
export async function atNode<T>(call: Call, scope: NodeScope, step: Step<T>): Promise<T> {
  return (await placed(call, scope, step)).value;
}

export async function changeNode(
  call: Call,
  scope: NodeScope,
  plan: (turn: Turn) => Result<Node>,
): Promise<NodeView> {
  const done = await placed(call, scope, { plan });
  return nodeView(done.value, done.scope.node.poolId);
}

function placed<T>(call: Call, found: NodeScope, { plan, dryRun }: Step<T>): Promise<Placed<T>> {
  return following(call, found, async (scope) => {
    const { node, tenantId } = scope;
    const committed = await call.deps.engine.submit<T | typeof GONE>(node.gateId, {
      name: call.method,
      tenantId,
      signal: call.signal,
      dryRun,
      plan: (turn) => (turn.state.node(node.id) ? plan(turn) : ok(GONE)),
    });
    if (!committed.value.ok) throw fromRefusal(committed.value.refusal);
    const { value } = committed.value;
    if (value === GONE) return GONE;
    if (node.poolId) call.answer.seq = committed.seq;
    return { value, scope };
  });
}
