/** The unit reservations of a gate's nodes. */
import type { NodeId, UnitReservationId } from "../ids.ts";
import type { UnitReservation } from "../claims.ts";

/** Whether it still speaks for its units. */
export function isStanding({ status }: Pick<UnitReservation, "status">): boolean {
  return status === "pending" || status === "active" || status === "needs-review";
}

export class RingFences {
  readonly #byId = new Map<UnitReservationId, UnitReservation>();
  readonly #byNode = new Map<NodeId, Map<UnitReservationId, UnitReservation>>();

  get(id: UnitReservationId): UnitReservation | undefined {
    return this.#byId.get(id);
  }

  all(): Iterable<UnitReservation> {
    return this.#byId.values();
  }

  /** In no stated order. */
  on(nodeId: NodeId): Iterable<UnitReservation> {
    return this.#byNode.get(nodeId)?.values() ?? [];
  }

  /** @returns the node whose terms are different now */
  set(id: UnitReservationId, row: UnitReservation | null): NodeId | null {
    const old = this.#byId.get(id);
    const next = row && isStanding(row) ? row : null;
    const nodeId = next?.nodeId ?? old?.nodeId ?? null;
    if (nodeId === null) return null;
    const here = this.#byNode.get(nodeId) ?? new Map<UnitReservationId, UnitReservation>();
    if (next) {
      this.#byId.set(id, next);
      here.set(id, next);
      this.#byNode.set(nodeId, here);
    } else {
      this.#byId.delete(id);
      here.delete(id);
      if (here.size === 0) this.#byNode.delete(nodeId);
    }
    return nodeId;
  }
}
