/**
 * The whole domain at once: whatever is done to two small pools, in whatever order, every rule holds after
 * every batch. `WHOLE_DOMAIN_RUNS` says how many histories are tried.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { faultsOfHistory } from "./testing/whole-domain/faults-of-history.ts";
import { historyArb } from "./testing/whole-domain/steps.ts";

/** The domain has no types of Node's; its tests run there all the same. */
const { env } = (globalThis as unknown as { process: { env: Record<string, string | undefined> } })
  .process;
const RUNS = Number(env["WHOLE_DOMAIN_RUNS"] ?? 300);
const HOUR = 3_600_000;

test(
  "in every history each rule holds after each step, and each step can be taken back",
  { timeout: HOUR },
  () => {
    fc.assert(
      fc.property(historyArb, (history) => {
        expect(faultsOfHistory(history)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  },
);
