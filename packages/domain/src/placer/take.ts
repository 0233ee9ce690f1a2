/**
 * The units to take, by the caller's preference: the best set in that order that serves every slot (units
 * that can be served together are a matroid, so taking the next one whenever it still fits is best).
 * @param wanted by slot, how many units it wants
 * @param able by unit, the slots that it may serve
 * @param preference units, best first
 * @returns by unit taken, its slot; null when the slots cannot all be served
 */
export function takeUnits(
  wanted: readonly number[],
  able: readonly (readonly number[])[],
  preference: readonly number[],
): ReadonlyMap<number, number> | null {
  const serves = new Map<number, number>();
  const load = wanted.map(() => 0);
  let missing = wanted.reduce((sum, count) => sum + count, 0);
  for (const unit of preference) {
    if (missing === 0) break;
    if (serveOne(unit)) missing -= 1;
  }
  return missing === 0 ? serves : null;

  /** Gives the unit a slot, moving others where that makes room. */
  function serveOne(unit: number): boolean {
    const path = new Map<number, { unit: number; from: number }>();
    const queue: number[] = [];
    const look = (candidate: number, from: number): void => {
      for (const slot of able[candidate] ?? []) {
        if (path.has(slot)) continue;
        path.set(slot, { unit: candidate, from });
        queue.push(slot);
      }
    };
    look(unit, -1);
    for (const slot of queue) {
      if ((load[slot] as number) < (wanted[slot] as number)) {
        shift(path, slot);
        return true;
      }
      for (const [other, served] of serves) if (served === slot) look(other, slot);
    }
    return false;
  }

  /** Walks the path back: each unit on it moves to the slot that it found. */
  function shift(path: ReadonlyMap<number, { unit: number; from: number }>, free: number): void {
    load[free]! += 1;
    for (let slot = free; slot >= 0;) {
      const step = path.get(slot) as { unit: number; from: number };
      serves.set(step.unit, slot);
      slot = step.from;
    }
  }
}
