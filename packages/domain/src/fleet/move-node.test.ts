import { expect, test } from "vitest";
import { gpuPool, refused, turnOn } from "../reservations/test-kit.ts";
import { moveNode } from "./move-node.ts";

test("a node that has come to the pool already is not moved there by an older look at where it was, and stays", () => {
  // One server read its pool, another moved the node, and then the first one read where it is to go.
  const from = turnOn(gpuPool(1, 2));
  const to = turnOn(gpuPool(1, 2));
  const [node] = from.state.nodes();
  if (!node) throw new Error("the pool has a node");
  expect(refused(moveNode(from, to, { nodeId: node.id }))).toEqual({ code: "NOT_FOUND" });
  for (const turn of [from, to]) {
    for (const change of turn.changes.toReversed()) turn.state.revert(change);
    expect(turn.state.node(node.id)).toBeDefined();
  }
});
