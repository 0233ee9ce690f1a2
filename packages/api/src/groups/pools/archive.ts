/** Retires a pool. */
import { archivePool } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { changePool, ownSight } from "./change-pool.ts";

export const archive: Handler<"pools.archive"> = {
  run: (call, _input, scope) =>
    changePool(call, scope, {
      poolId: scope.pool.poolId,
      sight: ownSight(scope.tenantId),
      plan: (turn) => archivePool(turn, { tenantId: scope.tenantId, version: call.ifMatch }),
    }),
};
