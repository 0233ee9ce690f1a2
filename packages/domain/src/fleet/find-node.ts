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

/** Refused while any live booking, begun or not, holds something of the node. */
export function unbooked(state: PoolState, node: Node): Result<Node> {
  const count = state.reservationsOn(node.id).length;
  if (count === 0) return ok(node);
  const bookings = count === 1 ? "1 live booking holds" : `${count} live bookings hold`;
  return refuse({
    code: "INVALID_STATE",
    message: `${bookings} units of node ${node.name}: end them or wait until they are over`,
  });
}
