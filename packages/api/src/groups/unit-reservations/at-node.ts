/** Work at the gate of the node that a call names, which may be moved between the look at it and the work. */
import {
  type PoolState,
  type Result,
  type TermAsk,
  type Turn,
  type UnitReservationId,
  invariant,
  ok,
} from "@berth/domain";
import { poolInScope } from "../../access/scope.ts";
import type { Call, UnitScope, VisibleNode } from "../../call.ts";
import { ApiError, fromRefusal, notFound } from "../../errors.ts";
import { findNode } from "../../visibility.ts";

/** How often a node is followed before its caller is asked to come again. */
const ATTEMPTS = 8;
const GONE: unique symbol = Symbol("the node left its gate");

/** The node that the call named; the chain in front of every method has found it. */
export function namedNode({ node }: UnitScope): VisibleNode {
  invariant(node, "a call on a unit reservation names its node");
  return node;
}

export function termAsk(scope: UnitScope, input: { reservationId: UnitReservationId }): TermAsk {
  return { nodeId: namedNode(scope).id, unitReservationId: input.reservationId };
}

/** Plans at the node's gate and writes. @throws ApiError when the rule refuses */
export async function changeAtNode<T>(
  call: Call,
  scope: UnitScope,
  plan: (turn: Turn) => Result<T>,
): Promise<T> {
  const { tenantId } = scope;
  const result = await following(call, scope, async ({ id, gateId }) =>
    call.deps.engine.submit<T | typeof GONE>(gateId, {
      name: call.method,
      tenantId,
      signal: call.signal,
      plan: (turn) => (turn.state.node(id) ? plan(turn) : ok(GONE)),
    }),
  );
  if (!result.ok) throw fromRefusal(result.refusal);
  return result.value;
}

/** Reads at the node's gate, at a state in which nothing is due. @throws ApiError when the rule refuses */
export async function readAtNode<T>(
  call: Call,
  scope: UnitScope,
  read: (state: PoolState) => Result<T>,
): Promise<T> {
  const result = await following(call, scope, ({ id, gateId }) =>
    call.deps.engine.read<Result<T | typeof GONE>>(gateId, (state) =>
      state.node(id) ? read(state) : ok(GONE),
    ),
  );
  if (!result.ok) throw fromRefusal(result.refusal);
  return result.value;
}

interface Done<T> {
  readonly value: Result<T | typeof GONE>;
  readonly seq: number;
}

/** A pool that the node went to counts like the one that it was found in. */
async function following<T>(
  call: Call,
  scope: UnitScope,
  work: (node: VisibleNode) => Promise<Done<T> | null>,
): Promise<Result<T>> {
  let node = namedNode(scope);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const done = await work(node);
    const result = done?.value;
    if (done && result && !(result.ok && result.value === GONE)) {
      if (node.poolId) call.answer.seq = done.seq;
      // What is left of the values when GONE is taken away.
      return result as Result<T>;
    }
    const again = await findNode(call, { nodeId: node.id });
    if (!again || !poolInScope(call.principal, again.poolId))
      throw notFound("the node was removed, or went where the caller's key does not reach");
    node = again;
  }
  throw new ApiError("UNAVAILABLE", { message: "The node is being moved; try again in a moment." });
}
