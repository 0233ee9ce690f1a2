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

/** Whether the unit, or the GPU that it is a part of, is broken or no longer reported. */
export function isFaulty(node: Pick<Node, "gpus">, unit: Unit): boolean {
  if (!unit.healthy || unit.removed) return true;
  if (unit.parentUnitId === null) return false;
  const parent = node.gpus.find(({ id }) => id === unit.parentUnitId);
  return parent !== undefined && (!parent.healthy || parent.removed);
}

/**
 * A unit's own fault counts before its node's state and maintenance, except that nobody knows how the
 * units of an unreachable node are.
 */
export function bucketOfUnit(node: Node, unit: Unit): Bucket {
  return isFaulty(node, unit) && node.state !== "unreachable" ? "unhealthy" : bucketOfNode(node);
}
