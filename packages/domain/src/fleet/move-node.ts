/** Moves a node between pools, or out of the fleet: once no live booking holds anything of it. */
import type { Node } from "../model.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import { carryUnitReservations, mayCarry, notSetAside } from "../unit-reservations/carry.ts";
import { admit } from "./admit.ts";
import { tellOfNode } from "./events.ts";
import { emptyNode } from "./empty-node.ts";
import { type NodeAsk, findNode } from "./find-node.ts";
import { unitsIn } from "./merge.ts";
import { gpusOf, isPart } from "./units.ts";

/**
 * From one gate into another, where its GPUs are whole or cut as that pool says; the pools' watchers read
 * it as gone here and registered there.
 */
export function moveNode(from: Turn, to: Turn, ask: NodeAsk): Result<Node> {
  const found = findNode(from.state, ask);
  if (!found.ok) return found;
  // The two were looked at one after the other: it has come here already, so there it is no more.
  if (to.state.node(found.value.id)) return refuse({ code: "NOT_FOUND" });
  const { name, siteId, tenantOwned } = found.value;
  const admitted = admit(to.state.config, { name, siteId, tenantOwned, member: false });
  if (!admitted.ok) return admitted;
  const allowed = mayCarry(from.state, found.value, to.state.config);
  if (!allowed.ok) return allowed;
  const emptied = emptyNode(from, found.value);
  if (!emptied.ok) return emptied;
  const before = emptied.value;
  const units = unitsIn(to, before.id, {
    gpus: gpusOf(before),
    others: before.units.filter((unit) => unit.class !== "gpu" && !isPart(unit)),
    known: before.units,
  });
  const node: Node = { ...before, ...units, version: before.version + 1 };
  const putBack = carryUnitReservations(from, before);
  from.apply({ kind: "node", before, after: null });
  to.apply({ kind: "node", before: null, after: node });
  putBack(to);
  const more = { moved: true };
  if (from.state.config) tellOfNode(from, { type: "node.removed", node, more });
  tellOfNode(to, { type: "node.registered", node, more });
  return ok(node);
}

/** Out of the fleet; answers it as it last was. */
export function removeNode(turn: Turn, ask: NodeAsk): Result<Node> {
  const found = findNode(turn.state, ask);
  if (!found.ok) return found;
  const free = notSetAside(turn.state, found.value);
  if (!free.ok) return free;
  const emptied = emptyNode(turn, found.value);
  if (!emptied.ok) return emptied;
  const node = emptied.value;
  turn.apply({ kind: "node", before: node, after: null });
  tellOfNode(turn, { type: "node.removed", node });
  return ok(node);
}
