/** The counted rows of pools, as one tenant reads them: what is withheld from it counts as reserved. */
import { type RollupRow, type TenantId, rollupFor } from "@berth/domain";
import type { PoolId } from "@berth/domain";
import type { Call } from "../../call.ts";
import { withNothingDue } from "../with-nothing-due.ts";
import { type CountedRow, type PoolRows, poolRows } from "./store.ts";

/** By pool id, with nothing in them that is over. Stored counts will do where no units are set aside. */
export async function rowsFor(
  call: Call,
  tenantId: TenantId,
  ids: readonly PoolId[],
): Promise<PoolRows[]> {
  const { db, engine } = call.deps;
  const pools = await withNothingDue(engine, () => poolRows(db, ids));
  return Promise.all(
    pools.map(async (pool) => (pool.setAside ? seenBy(call, tenantId, pool) : pool)),
  );
}

async function seenBy(call: Call, tenantId: TenantId, stored: PoolRows): Promise<PoolRows> {
  const found = await call.deps.engine.read(stored.poolId, (state, now) =>
    rollupFor(state, { tenantId, now }),
  );
  if (!found) return stored;
  const { value: rows, seq, now } = found;
  const changed = new Map(stored.rows.map((row) => [row.resource, row.updatedAt]));
  // Counts of a later state are as old as it at most.
  const at = (row: RollupRow): number =>
    (seq === stored.seq ? changed.get(row.resource) : undefined) ?? now;
  return { ...stored, seq, rows: rows.map((row): CountedRow => ({ ...row, updatedAt: at(row) })) };
}
