/**
 * Nodes as they are read, page by page. Pure. A node is first known at a glance: that it is there, and what takes it
 * at one moment; then it is read, with all that takes it in the time asked about.
 */
import type { NodeSchedule } from "@berth/client";
import { countText, number } from "../format/gpus.ts";

export interface NodesSoFar {
  readonly nodes: readonly NodeSchedule[];
  /** Ids of those that are known at a glance alone. */
  readonly unread: readonly string[];
  /** All nodes are known, be it at a glance. */
  readonly isCounted: boolean;
  /** All nodes are read. */
  readonly isWhole: boolean;
}

/** Some more of them. */
export interface NodesRead {
  readonly nodes: readonly NodeSchedule[];
  /** As they were at one moment, or in another window. */
  readonly atGlance: boolean;
  /** It ends what it is of: the glance at all nodes, or the reading of them. */
  readonly isLast: boolean;
}

export const NOTHING_READ: NodesSoFar = {
  nodes: [],
  unread: [],
  isCounted: false,
  isWhole: false,
};

/** What is known with one more page. What is read is not given up for a glance; what was not met again is gone. */
export function withPage(soFar: NodesSoFar, { nodes, atGlance, isLast }: NodesRead): NodesSoFar {
  const byId = new Map(soFar.nodes.map((node) => [node.id, node]));
  const unread = new Set(soFar.unread);
  for (const node of nodes) {
    if (atGlance && byId.has(node.id)) continue;
    byId.set(node.id, node);
    if (atGlance) unread.add(node.id);
    else unread.delete(node.id);
  }
  const isWhole = isLast && !atGlance;
  if (isWhole) for (const id of unread) byId.delete(id);
  return {
    nodes: [...byId.values()],
    unread: isWhole ? [] : [...unread],
    isCounted: soFar.isCounted || isLast,
    isWhole,
  };
}

/** How far it is, for people; null when there is nothing more to come. */
export function progressText({ nodes, unread, isCounted, isWhole }: NodesSoFar): string | null {
  if (isWhole) return null;
  const read = nodes.length - unread.length;
  return isCounted
    ? `All ${countText(nodes.length, "node")} are here. What is booked on them is read: ${number(read)} so far.`
    : `${countText(nodes.length, "node")} so far; more are being read.`;
}
