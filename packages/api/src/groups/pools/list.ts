/** Every pool that the tenant owns or is offered. */
import type { Handler } from "../../call.ts";
import { visiblePools } from "../../visibility.ts";
import { allowedPools } from "../allowed-pools.ts";
import { withNothingDue } from "../with-nothing-due.ts";
import { poolRecords } from "./store.ts";
import { poolView, wanted } from "./view.ts";

export const list: Handler<"pools.list"> = {
  async run(call, _input, scope) {
    // 1. Which pools the tenant sees, and which of them the caller may have.
    const seen = await visiblePools(call, scope);
    const pools = allowedPools(call, scope, { action: "compute:pools:read", pools: seen });
    const sights = new Map(pools.map((pool) => [pool.poolId, pool]));

    // 2. The pools, each as this tenant sees it. What is over counts in no quota any more.
    const { db, engine } = call.deps;
    const records = await withNothingDue(engine, () => poolRecords(db, pools.map(wanted)));
    return {
      pools: records.flatMap((record) => {
        const sight = sights.get(record.id);
        return sight ? [poolView(record, sight)] : [];
      }),
    };
  },
};
