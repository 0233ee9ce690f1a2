/**
 * Which nodes may have room that they had not: a request that found none finds some, if at all, on one of
 * those that were touched since.
 */
import type { NodeId } from "../ids.ts";

/** Kept beyond two a node before older ones of the same node are forgotten. */
const SLACK = 1_024;

export class Touches {
  #list: { readonly nodeId: NodeId; readonly revision: number }[] = [];
  #probes = 0;

  /** @param nodes how many the state has: the list grows no longer than that asks for */
  add(
    nodeId: NodeId,
    { revision, nodes }: { readonly revision: number; readonly nodes: number },
  ): void {
    this.#list.push({ nodeId, revision });
    if (this.#probes === 0 && this.#list.length > 2 * nodes + SLACK) this.#forget();
  }

  /** Those after the revision, each once, in no stated order. */
  since(revision: number): Set<NodeId> {
    const found = new Set<NodeId>();
    for (let at = this.#list.length - 1; at >= 0; at -= 1) {
      const touch = this.#list[at];
      if (!touch || touch.revision <= revision) break;
      found.add(touch.nodeId);
    }
    return found;
  }

  /** Forgets what is touched by work that leaves everything as it was. */
  unseen<T>(work: () => T): T {
    const { length } = this.#list;
    this.#probes += 1;
    try {
      return work();
    } finally {
      this.#probes -= 1;
      this.#list.length = length;
    }
  }

  #forget(): void {
    const last = new Map(this.#list.map((touch) => [touch.nodeId, touch]));
    this.#list = [...last.values()].sort((a, b) => a.revision - b.revision);
  }
}
