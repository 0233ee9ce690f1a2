/** Lives through a history and says what went wrong in it first. */
import { faultsOfChanges } from "./check-changes.ts";
import { faultsOfNotice } from "./check-notice.ts";
import { faultsOfFollowing, faultsOfState, faultsOfUndoing } from "./check-state.ts";
import type { History } from "./steps.ts";
import { take } from "./take.ts";
import { type Batch, World } from "./world.ts";

/**
 * Every fault of the first batch that has any.
 * @param seen called with each batch that was looked at
 */
export function faultsOfHistory(history: History, seen?: (batch: Batch) => void): string[] {
  const world = new World(history.start);
  let batches = 0;
  const check = (batch: Batch): string[] => {
    batches += 1;
    seen?.(batch);
    const faults = [...faultsOfChanges(batch), ...faultsOfNotice(batch)];
    faults.push(...faultsOfState(world, batch));
    if (history.undoing) faults.push(...faultsOfUndoing(batch));
    if (batches % history.lag === 0) faults.push(...faultsOfFollowing(batch.gate));
    return faults;
  };
  for (const step of history.steps)
    for (const batch of take(world, step)) {
      const faults = check(batch);
      if (batch.leavesFreed) faults.push(...check(world.settle(batch.gate)));
      if (faults.length > 0) return faults.map((fault) => `${step.do}: ${fault}`);
    }
  return [];
}
