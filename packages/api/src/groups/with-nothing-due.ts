/**
 * Reads of stored rows in which nothing may be over. What is due is asked in the statement that reads: one round trip
 * in place of two, and both are of one instant.
 */
import type { PoolId } from "@berth/domain";
import type { Engine } from "@berth/engine";

/** A pool's row, with whether something was due in the pool when it was read. */
export type Dated<Row> = Row & { readonly poolId: PoolId; readonly isDue: boolean };

/** What is read; where something was due it is applied, and read again. */
export async function withNothingDue<Row>(
  engine: Pick<Engine, "settle">,
  read: () => Promise<Dated<Row>[]>,
): Promise<Row[]> {
  const rows = await read();
  const due = rows.filter(({ isDue }) => isDue).map(({ poolId }) => poolId);
  if (due.length === 0) return rows;
  await engine.settle(due);
  return read();
}
