/** A node's state and a unit's health, as an operator says them. Bookings stay; new ones mind it. */
import type { UnitId } from "../ids.ts";
import type { Node, NodeState } from "../model.ts";
import { type Result, ok, refuse } from "../refusal.ts";
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
  return ok(node);
}

/** A unit that is no longer reported has no health to set: it is not found. */
export function setUnitHealth(
  turn: Turn,
  ask: NodeAsk & { readonly unitId: UnitId; readonly healthy: boolean },
): Result<Node> {
  const found = findNode(turn.state, ask);
  if (!found.ok) return found;
  const before = found.value;
  const { unitId, healthy } = ask;
  const unit = before.units.find(({ id, removed }) => id === unitId && !removed);
  if (!unit) return refuse({ code: "NOT_FOUND" });
  if (unit.healthy === healthy) return found;
  const units = before.units.map((u) => (u.id === unitId ? { ...u, healthy } : u));
  const node: Node = { ...before, units, version: before.version + 1 };
  turn.apply({ kind: "node", before, after: node });
  const touched = holdersOf(turn, node, unitId);
  const more = { unitId, healthy };
  tellOfNode(turn, { type: "unit.healthChanged", node, touched, more });
  return ok(node);
}
