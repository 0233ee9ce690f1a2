/**
 * The whole domain at once: whatever is done to two small pools, in whatever order, every rule holds after
 * every batch. `WHOLE_DOMAIN_RUNS` sets how many histories are tried.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { faultsOfChanges } from "./testing/whole-domain/check-changes.ts";
import {
  faultsOfFollowing,
  faultsOfState,
  faultsOfUndoing,
} from "./testing/whole-domain/check-state.ts";
import { startArb, stepArb } from "./testing/whole-domain/draws.ts";
import { take } from "./testing/whole-domain/take.ts";
import { type Batch, World } from "./testing/whole-domain/world.ts";

/** The domain has no types of Node's; its tests run there all the same. */
const { env } = (globalThis as unknown as { process: { env: Record<string, string | undefined> } })
  .process;
const RUNS = Number(env["WHOLE_DOMAIN_RUNS"] ?? 300);

test("in every history each rule holds after every step, and each step can be taken back", () => {
  fc.assert(
    fc.property(
      startArb,
      fc.array(stepArb, { maxLength: 40, size: "max" }),
      fc.record({ undoing: fc.boolean(), lag: fc.integer({ min: 1, max: 4 }) }),
      (start, steps, { undoing, lag }) => {
        const world = new World(start);
        let batches = 0;
        const check = (batch: Batch): void => {
          batches += 1;
          const faults = [...faultsOfChanges(batch), ...faultsOfState(world, batch)];
          if (undoing) faults.push(...faultsOfUndoing(batch));
          if (batches % lag === 0) faults.push(...faultsOfFollowing(batch.gate));
          expect(faults).toEqual([]);
        };
        for (const step of steps)
          for (const batch of take(world, step)) {
            check(batch);
            if (batch.leavesFreed) check(world.settle(batch.gate));
          }
      },
    ),
    { numRuns: RUNS },
  );
}, 3_600_000);
