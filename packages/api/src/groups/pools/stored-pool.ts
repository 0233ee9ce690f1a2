/** One stored pool with nothing over in it, as a tenant sees it. */
import type { Output } from "@berth/contract";
import type { Call, VisiblePool } from "../../call.ts";
import { notFound } from "../../errors.ts";
import { poolRecords } from "./store.ts";
import { type Sight, poolView, wanted } from "./view.ts";

export async function storedPool(
  call: Call,
  sight: Sight & Pick<VisiblePool, "poolId">,
): Promise<Output<"pools.get">> {
  await call.deps.engine.settle([sight.poolId]);
  const [record] = await poolRecords(call.deps.db, [wanted(sight)]);
  if (!record) throw notFound("the pool went away between two reads");
  call.answer.seq = record.seq;
  return poolView(record, sight);
}
