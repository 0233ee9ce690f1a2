/** A node of a committed state in which nothing is due. */
import type { Node } from "@berth/domain";
import type { Call, VisibleNode } from "../../call.ts";
import { notFound } from "../../errors.ts";

/** @throws ApiError NOT_FOUND when it left its gate meanwhile */
export async function readNode(call: Call, node: VisibleNode): Promise<Node> {
  const found = await call.deps.engine.read(node.gateId, (state) => state.node(node.id) ?? null);
  if (!found?.value) throw notFound("the node left its gate");
  if (node.poolId) call.answer.seq = found.seq;
  return found.value;
}
