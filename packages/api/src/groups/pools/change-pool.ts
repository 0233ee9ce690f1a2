/** One change of a pool through its gate: what the four owner's methods share. */
import type { Output } from "@berth/contract";
import { type PoolConfig, type PoolId, type Result, type Turn, ok } from "@berth/domain";
import type { Call, TenantScope } from "../../call.ts";
import { fromRefusal } from "../../errors.ts";
import { type Sight, poolView, recordOf } from "./view.ts";

export interface PoolChange {
  readonly poolId: PoolId;
  /** Who sees the answer, and how. */
  readonly sight: Sight;
  readonly secret?: Uint8Array | null | undefined;
  plan(turn: Turn): Result<PoolConfig>;
}

/** @throws ApiError when the rule refuses */
export async function changePool(
  call: Call,
  scope: TenantScope,
  change: PoolChange,
): Promise<Output<"pools.get">> {
  const committed = await call.deps.engine.submit(change.poolId, {
    name: call.method,
    tenantId: scope.tenantId,
    signal: call.signal,
    secret: change.secret,
    plan(turn) {
      const planned = change.plan(turn);
      return planned.ok ? ok(poolView(recordOf(turn.state, turn.now), change.sight)) : planned;
    },
  });
  call.answer.seq = committed.seq;
  if (!committed.value.ok) throw fromRefusal(committed.value.refusal);
  return committed.value.value;
}

/** How the owner sees its own pool. */
export function ownSight(tenantId: string): Sight {
  return { owned: true, offeredTenantId: tenantId, descendant: false };
}
