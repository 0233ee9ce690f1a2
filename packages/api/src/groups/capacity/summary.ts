/** Every pool that the tenant sees, with its rows, and whole GPUs by model. */
import type { Handler } from "../../call.ts";
import { poolInScope } from "../../access/scope.ts";
import { visiblePools } from "../../visibility.ts";
import { rowsFor } from "./rows-for.ts";
import { poolCapacityView, totalsByModel } from "./view.ts";

export const summary: Handler<"capacity.summary"> = {
  async run(call, _input, scope) {
    // 1. Which pools: decided on the tenant, so only a key's own narrowing takes any out.
    const seen = await visiblePools(call, scope);
    const inScope = seen.filter((pool) => poolInScope(call.principal, pool.poolId));
    const sights = new Map(inScope.map((pool) => [pool.poolId, pool]));

    // 2. The rows, and their sums.
    const stored = await rowsFor(call, scope.tenantId, [...sights.keys()]);
    const pools = stored.flatMap((rows) => {
      const pool = sights.get(rows.poolId);
      return pool ? [poolCapacityView(rows, pool)] : [];
    });
    return { tenantId: scope.tenantId, pools, byGpuModel: totalsByModel(pools) };
  },
};
