/** In which of the five parts of a total a unit or a node's scalars count. */
import type { Node, NodeState, Unit } from "../model.ts";

/** `ready` stands for the row's `allocatable`. */
export type Bucket = NodeState;

/**
 * A maintenance window over now wins over the node's state; a window is over now from the write that
 * applied its start to the one that ends it.
 */
export function bucketOfNode(node: Node): Bucket {
  return node.maintenance.some((window) => window.active) ? "maintenance" : node.state;
}

/**
 * A unit's own fault counts before its node's state and maintenance, except that nobody knows how the
 * units of an unreachable node are. A unit that is no longer reported counts as faulty.
 */
export function bucketOfUnit(node: Node, unit: Unit): Bucket {
  const faulty = !unit.healthy || unit.removed;
  return faulty && node.state !== "unreachable" ? "unhealthy" : bucketOfNode(node);
}
