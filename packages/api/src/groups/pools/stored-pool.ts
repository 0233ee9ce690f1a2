/** One stored pool with nothing over in it, as a tenant sees it. */
import type { Output } from "@berth/contract";
import type { Call, VisiblePool } from "../../call.ts";
import { notFound } from "../../errors.ts";
import { withNothingDue } from "../with-nothing-due.ts";
import { poolRecords } from "./store.ts";
import { type Sight, poolView, wanted } from "./view.ts";

export async function storedPool(
  call: Call,
  sight: Sight & Pick<VisiblePool, "poolId">,
): Promise<Output<"pools.get">> {
  const { db, engine } = call.deps;
  const [record] = await withNothingDue(engine, () => poolRecords(db, [wanted(sight)]));
  if (!record) throw notFound("the pool went away between two reads");
  call.answer.seq = record.seq;
  return poolView(record, sight);
}
