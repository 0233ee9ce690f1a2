/** Nodes that may have to take their pool's layout: every one that something was done to since it was looked at. */
import type { NodeId } from "../ids.ts";

export class PendingLayouts {
  readonly #suspects = new Set<NodeId>();

  suspect(id: NodeId): void {
    this.#suspects.add(id);
  }

  /** Those that really have to, by id. */
  those(isPending: (id: NodeId) => boolean): NodeId[] {
    for (const id of this.#suspects) if (!isPending(id)) this.#suspects.delete(id);
    return [...this.#suspects].sort();
  }
}
