/** The common first step of everything that is done to a node: find it in its gate, mind the version. */
import type { NodeId } from "../ids.ts";
import type { Node } from "../model.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";

export interface NodeAsk {
  readonly nodeId: NodeId;
  /** Refused as a conflict unless the node is still at this version. */
  readonly version?: number | undefined;
}

/** Not there: it moved to another gate or was removed since the caller looked. */
export function findNode(state: PoolState, ask: NodeAsk): Result<Node> {
  const node = state.node(ask.nodeId);
  if (!node) return refuse({ code: "NOT_FOUND" });
  if (ask.version === undefined || ask.version === node.version) return ok(node);
  return refuse({
    code: "CONFLICT",
    kind: "version",
    message: `the node is at version ${node.version}, not ${ask.version}: read it again`,
  });
}
