/** Takes an offer back. */
import { unofferPool } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { fromRefusal } from "../../errors.ts";

export const unoffer: Handler<"pools.unoffer"> = {
  async run(call, input, scope) {
    const committed = await call.deps.engine.submit(scope.pool.poolId, {
      name: call.method,
      tenantId: scope.tenantId,
      signal: call.signal,
      plan: (turn) => unofferPool(turn, { tenantId: scope.tenantId, toTenantId: input.toTenantId }),
    });
    call.answer.seq = committed.seq;
    if (!committed.value.ok) throw fromRefusal(committed.value.refusal);
    return committed.value.value;
  },
};
