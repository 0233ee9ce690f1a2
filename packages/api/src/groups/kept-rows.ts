/**
 * What was read of pools, kept for as long as the pool stays at the place in its order where it was read. All that is
 * configured or counted of a pool is written through its gate, and each write moves the gate's sequence: a read asks
 * for the place, and for the rows only where it is another. So it is as fresh as one that reads everything. A pool
 * that is asked for alone is read all the same: its rows cost next to nothing.
 */
import type { Database } from "@berth/db";

/** Rows of one kind that are kept for one database; the one read longest ago goes first. */
const KEPT_MAX = 10_000;

export interface Placed {
  readonly seq: number;
}

/** The rows that are known when a statement is sent: what it finds unmoved is one of these, whatever comes meanwhile. */
export interface Known<Row extends Placed> {
  /** The places of the keys, in their order; null where nothing is known. */
  readonly seqs: readonly (number | null)[];
  /** The row as it was read, or where the pool has not moved the one that is known of it. */
  settle(key: string, read: Row | null): Row;
}

export type KeptRows<Row extends Placed> = (db: Database, keys: readonly string[]) => Known<Row>;

export function keepingRows<Row extends Placed>(): KeptRows<Row> {
  const databases = new WeakMap<Database, Map<string, Row>>();
  return (db, keys) => {
    const kept = databases.get(db) ?? new Map<string, Row>();
    databases.set(db, kept);
    const known = new Map(keys.length > 1 ? keys.map((key) => [key, kept.get(key)]) : []);
    return {
      seqs: keys.map((key) => known.get(key)?.seq ?? null),
      settle(key, read) {
        const row = read ?? known.get(key);
        if (!row) throw new Error("a pool was told to be where it was never read");
        if (read) keep(kept, key, read);
        return row;
      },
    };
  };
}

/** An answer that comes late takes nobody back to an earlier place. */
function keep<Row extends Placed>(kept: Map<string, Row>, key: string, row: Row): void {
  if ((kept.get(key)?.seq ?? -1) > row.seq) return;
  kept.delete(key);
  if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value ?? "");
  kept.set(key, row);
}
