/** A node's state and a unit's health, as an operator says them, and what that does to its bookings. */
import type { UnitId } from "../ids.ts";
import type { Node, NodeState, Unit } from "../model.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import { mindNode } from "../reservations/heal.ts";
import type { Turn } from "../turn.ts";
import { holdersOf, tellOfNode } from "./events.ts";
import { type NodeAsk, findNode } from "./find-node.ts";

/** The state that it has already changes nothing and tells of nothing. */
export function setNodeState(
  turn: Turn,
  ask: NodeAsk & { readonly state: NodeState },
): Result<Node> {
  const found = findNode(turn.state, ask);
  if (!found.ok || found.value.state === ask.state) return found;
  const before = found.value;
  const node: Node = { ...before, state: ask.state, version: before.version + 1 };
  turn.apply({ kind: "node", before, after: node });
  const touched = turn.state.reservationsOn(node.id);
  tellOfNode(turn, { type: "node.stateChanged", node, touched });
  return ok(minded(turn, node));
}

/**
 * Of a unit, or of a GPU that is shared out in parts, which are as sound as it is. One that is no longer
 * reported has no health to set: it is not found.
 */
export function setUnitHealth(
  turn: Turn,
  ask: NodeAsk & { readonly unitId: UnitId; readonly healthy: boolean },
): Result<Node> {
  const found = findNode(turn.state, ask);
  if (!found.ok) return found;
  const before = found.value;
  const { unitId, healthy } = ask;
  const devices = [...before.units, ...before.gpus];
  const unit = devices.find(({ id, removed }) => id === unitId && !removed);
  if (!unit) return refuse({ code: "NOT_FOUND" });
  if (unit.healthy === healthy) return found;
  const told = (u: Unit): Unit => (u.id === unitId ? { ...u, healthy } : u);
  const node: Node = {
    ...before,
    units: before.units.map(told),
    gpus: before.gpus.map(told),
    version: before.version + 1,
  };
  turn.apply({ kind: "node", before, after: node });
  const touched = holdersOf(turn, node, unitId);
  const more = { unitId, healthy };
  tellOfNode(turn, { type: "unit.healthChanged", node, touched, more });
  return ok(minded(turn, node));
}

/** What became of the node by what its bookings did: one that left may have let a new layout in. */
function minded(turn: Turn, node: Node): Node {
  mindNode(turn, node.id);
  return turn.state.node(node.id) ?? node;
}
