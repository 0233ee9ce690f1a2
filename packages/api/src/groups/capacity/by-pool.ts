/** One pool's capacity rows; `pools.capacity` answers the same. */
import type { Output } from "@berth/contract";
import type { Call, PoolScope } from "../../call.ts";
import { notFound } from "../../errors.ts";
import { rowsFor } from "./rows-for.ts";
import { rowsView } from "./view.ts";

export const byPool = {
  async run(call: Call, _input: unknown, scope: PoolScope): Promise<Output<"capacity.byPool">> {
    const { poolId } = scope.pool;
    const [stored] = await rowsFor(call, scope.tenantId, [poolId]);
    if (!stored) throw notFound("the pool went away between two reads");
    call.answer.seq = stored.seq;
    return { poolId, capacity: rowsView(stored.rows) };
  },
};
