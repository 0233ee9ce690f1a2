/**
 * The engine under a simulated database, network, clock and scheduler: `SIM_RUNS` lives of two pools, half
 * of them in each of two files, so that two cores share them. `BERTH_SEED` lives one again.
 */
import { expect, test } from "vitest";
import { STEPS, liveThrough } from "./seeds.ts";
import { lifeOf, simulate } from "./simulate.ts";

const RUNS = Number(process.env["SIM_RUNS"] ?? 300);
const ONE = process.env["BERTH_SEED"];
const HOUR = 3_600_000;

/** @param parity of the seeds that this file lives through */
export function simulationTest(parity: 0 | 1): void {
  const seeds =
    ONE === undefined
      ? Array.from({ length: Math.ceil((RUNS - parity) / 2) }, (_, at) => at * 2 + parity)
      : [Number(ONE)].filter((seed) => seed % 2 === parity);
  test.skipIf(seeds.length === 0)(
    "whatever is asked, lost, late or killed, every invariant holds after each write and each answer is kept",
    { timeout: HOUR },
    async () => {
      const { lives, writes, acked, met } = await liveThrough(seeds);
      const facts = [...met].map(([what, times]) => `${times} ${what}`).join(", ");
      process.stdout.write(
        `simulation: ${lives} lives of ${STEPS} steps, ${writes} writes, ${acked} answers, ${facts}\n`,
      );
      expect(lives).toBe(seeds.length);
      // A life in which nothing went wrong shows nothing.
      if (lives >= 100)
        for (const what of [
          "killed",
          "gateLost",
          "lockedPlan",
          "committed",
          "aborted",
          "straggler",
        ])
          expect(met.get(what) ?? 0, what).toBeGreaterThan(0);
    },
  );

  test("a seed is always the same life", async () => {
    const life = lifeOf(parity + 30, STEPS);
    expect(await simulate(life)).toEqual(await simulate(life));
  });
}
