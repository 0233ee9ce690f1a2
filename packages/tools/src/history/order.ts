/** Real time: a call that ended before another began is before it in the pool's order. */
import type { Operation, Report } from "./types.ts";

export interface Ordered {
  readonly op: Operation;
  readonly seq: number;
  /** It made the batch of its number, so nothing that was answered before may have seen that number. */
  readonly wrote: boolean;
}

/** All of one pool. O(n log n): the highest number that was answered so far is all there is to remember. */
export function checkOrder(all: readonly Ordered[], report: Report): void {
  const byStart = all.toSorted((a, b) => a.op.t0 - b.op.t0);
  const byEnd = all.toSorted((a, b) => a.op.t1 - b.op.t1);
  let ended = 0;
  let newest: Ordered | null = null;
  for (const later of byStart) {
    for (let next = byEnd[ended]; next && next.op.t1 < later.op.t0; next = byEnd[(ended += 1)])
      if (!newest || next.seq > newest.seq) newest = next;
    if (!newest) continue;
    const least = newest.seq + (later.wrote ? 1 : 0);
    if (later.seq >= least) continue;
    const code = later.wrote ? "REAL_TIME" : "STALE_READ";
    report(code, `${text(later)} began after ${text(newest)} had ended`);
  }
}

const text = ({ op, seq }: Ordered): string => `operation ${op.n} (${op.method}) at ${seq}`;
