/** Every pool that the tenant owns or is offered. */
import type { Handler } from "../../call.ts";
import { visiblePools } from "../../visibility.ts";
import { allowedPools } from "../allowed-pools.ts";
import { poolRecords } from "./store.ts";
import { poolView, wanted } from "./view.ts";

export const list: Handler<"pools.list"> = {
  async run(call, _input, scope) {
    // 1. Which pools the tenant sees, and which of them the caller may have.
    const seen = await visiblePools(call, scope);
    const pools = allowedPools(call, scope, { action: "compute:pools:read", pools: seen });
    const sights = new Map(pools.map((pool) => [pool.poolId, pool]));

    // 2. What is over counts in no quota any more.
    await call.deps.engine.settle([...sights.keys()]);

    // 3. The pools, each as this tenant sees it.
    const records = await poolRecords(call.deps.db, pools.map(wanted));
    return {
      pools: records.flatMap((record) => {
        const sight = sights.get(record.id);
        return sight ? [poolView(record, sight)] : [];
      }),
    };
  },
};
