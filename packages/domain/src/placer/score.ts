/**
 * How good a node is for a request, in [0, 1]. Only sums, products and one division of small integers,
 * so every machine computes the same.
 *
 * `pack` takes the node whose fragmentation grows least (Weng et al., "Beware of Fragmentation", USENIX
 * ATC '23): free units count as lost for every request size that they cannot serve together, weighed by
 * how likely that size is. Without a learnt mix, each of the usual sizes is as likely as the others.
 * Equal growth goes to the fuller node. `spread` takes the emptiest.
 */
const SIZES = [1, 2, 4, 8] as const;

export type Policy = "pack" | "spread";

/** What a node has of the class that the score looks at. */
export interface Room {
  /** Units free in the window, before this request. */
  readonly free: number;
  /** Units, free or not. */
  readonly total: number;
}

export function scoreOf(policy: Policy, room: Room, taken: number): number {
  const left = room.free - taken;
  if (policy === "spread") return room.total === 0 ? 0 : left / room.total;
  // Four times the growth, in units; then one part in 64 for each unit left, to prefer the fuller node.
  const growth = lost(left) - lost(room.free) + left / 64;
  return (1 - growth / (Math.abs(growth) + 16)) / 2;
}

/** Free units times the number of usual sizes that they cannot serve. */
function lost(free: number): number {
  let sum = 0;
  for (const size of SIZES) if (free < size) sum += free;
  return sum;
}

/** No node with at most `total` units of the class scores higher. */
export function bestScore(policy: Policy, total: number, taken: number): number {
  let best = 0;
  for (let free = taken; free <= total; free += 1) {
    best = Math.max(
      best,
      scoreOf(policy, { free, total: policy === "spread" ? total : free }, taken),
    );
  }
  return best;
}
