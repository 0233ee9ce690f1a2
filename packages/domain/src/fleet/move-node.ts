/** Moves a node between pools, or out of the fleet: only while no live booking holds anything of it. */
import type { Node } from "../model.ts";
import { type Result, ok } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import { admit } from "./admit.ts";
import { tellOfNode } from "./events.ts";
import { type NodeAsk, findNode, unbooked } from "./find-node.ts";

/** From one gate into another; the pools' watchers read it as gone here and registered there. */
export function moveNode(from: Turn, to: Turn, ask: NodeAsk): Result<Node> {
  const found = findNode(from.state, ask);
  if (!found.ok) return found;
  const before = found.value;
  const free = unbooked(from.state, before);
  if (!free.ok) return free;
  const { name, siteId, tenantOwned } = before;
  const admitted = admit(to.state.config, { name, siteId, tenantOwned, member: false });
  if (!admitted.ok) return admitted;
  const node: Node = { ...before, version: before.version + 1 };
  from.apply({ kind: "node", before, after: null });
  to.apply({ kind: "node", before: null, after: node });
  const more = { moved: true };
  if (from.state.config) tellOfNode(from, { type: "node.removed", node, more });
  tellOfNode(to, { type: "node.registered", node, more });
  return ok(node);
}

/** Out of the fleet; answers it as it last was. */
export function removeNode(turn: Turn, ask: NodeAsk): Result<Node> {
  const found = findNode(turn.state, ask);
  if (!found.ok) return found;
  const free = unbooked(turn.state, found.value);
  if (!free.ok) return free;
  const node = found.value;
  turn.apply({ kind: "node", before: node, after: null });
  tellOfNode(turn, { type: "node.removed", node });
  return ok(node);
}
