/** A node that left its gate between the look at it and the write: found again, and decided again. */
import { catalog } from "@berth/contract";
import { poolInScope } from "../../access/scope.ts";
import type { Call, NodeScope } from "../../call.ts";
import { ApiError, notFound } from "../../errors.ts";
import { findNode, visiblePool } from "../../visibility.ts";

/** How often a node is followed before its caller is asked to come again. */
const ATTEMPTS = 8;

/** What an attempt answers when the node is not in the gate any more. */
export const GONE: unique symbol = Symbol("the node left its gate");

/**
 * Works on the node where it is, and follows it when it moves meanwhile. A pool that it went to counts
 * like the one that it was found in.
 * @throws ApiError NOT_FOUND when it was removed, or went where the caller sees nothing
 */
export async function following<T>(
  call: Call,
  scope: NodeScope,
  work: (scope: NodeScope) => Promise<T | typeof GONE>,
): Promise<T> {
  let here = scope;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const done = await work(here);
    if (done !== GONE) return done;
    here = await findAgain(call, here);
  }
  throw new ApiError("UNAVAILABLE", { message: "The node is being moved; try again in a moment." });
}

async function findAgain(call: Call, scope: NodeScope): Promise<NodeScope> {
  const node = await findNode(call, { nodeId: scope.node.id });
  if (!node) throw notFound("the node was removed");
  const { poolId, tenantId } = node;
  const pool = poolId && (await visiblePool(call, scope, poolId));
  if ((tenantId !== scope.tenantId && !pool) || !poolInScope(call.principal, poolId))
    throw notFound("the node went where the caller sees nothing");
  const { action } = catalog[call.method];
  if (!call.deps.access.decide(call.principal, action, { kind: "compute-node", scope, node }))
    throw new ApiError("FORBIDDEN");
  return { ...scope, node };
}
