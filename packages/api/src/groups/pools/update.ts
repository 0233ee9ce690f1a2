/** Replaces a pool's policy, its GPU model, or both. */
import { policyIssues, updatePool } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { changePool, ownSight } from "./change-pool.ts";
import { sealToken } from "./seal.ts";

export const update: Handler<"pools.update"> = {
  // What depends on the pool and its nodes is looked at with them.
  check: ({ policy }) =>
    policy === undefined ? [] : policyIssues(policy, { siteKind: null, tables: null }),

  async run(call, input, scope) {
    const { policy, gpuModel } = input;
    const { poolId } = scope.pool;

    // 1. The cluster's token goes sealed beside the policy; a policy without one drops the stored one.
    const token = policy?.kubernetes?.token;
    const sealed = token === undefined ? null : sealToken(call, poolId, token);

    // 2. The change.
    return changePool(call, scope, {
      poolId,
      sight: ownSight(scope.tenantId),
      secret: policy === undefined ? undefined : sealed,
      plan: (turn) =>
        updatePool(turn, { tenantId: scope.tenantId, policy, gpuModel, version: call.ifMatch }),
    });
  },
};
