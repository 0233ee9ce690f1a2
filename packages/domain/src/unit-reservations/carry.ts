/** A node takes its unit reservations along when it goes from one gate to another. */
import type { Node, PoolConfig } from "../model.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";

/** Refused while units of the node are set aside: it leaves the fleet when nothing speaks for it. */
export function notSetAside(state: PoolState, node: Node): Result<Node> {
  const count = state.unitReservationsOn(node.id).length;
  if (count === 0) return ok(node);
  const theirs = count === 1 ? "1 unit reservation has" : `${count} unit reservations have`;
  return refuse({
    code: "INVALID_STATE",
    message: `${theirs} units of node ${node.name}: cancel them or wait until they are over`,
  });
}

/** Refused when the pool would cut the GPUs of such a node into parts: only whole ones can be set aside. */
export function mayCarry(state: PoolState, node: Node, into: PoolConfig | null): Result<Node> {
  if (into === null || into.sharing === "exclusive") return ok(node);
  return notSetAside(state, node);
}

/** Out of the one gate, before the node leaves it; answers what puts them into the other, once it is there. */
export function carryUnitReservations(from: Turn, node: Node): (to: Turn) => void {
  const carried = from.state.unitReservationsOn(node.id);
  for (const before of carried) from.apply({ kind: "unitReservation", before, after: null });
  return (to) => {
    for (const after of carried) to.apply({ kind: "unitReservation", before: null, after });
  };
}
