/** Lives through one seed after the other; one that fails is made as short as it gets, with the way back to it. */
import type { Lived } from "./simulate.ts";
import { type Life, lifeOf, simulate } from "./simulate.ts";

export interface Tally {
  lives: number;
  writes: number;
  acked: number;
  readonly met: Map<string, number>;
}

export const STEPS = 120;

/** @throws with the seed, the command that replays it, and the fewest steps that still fail */
export async function liveThrough(seeds: Iterable<number>, length: number = STEPS): Promise<Tally> {
  const tally: Tally = { lives: 0, writes: 0, acked: 0, met: new Map() };
  for (const seed of seeds) {
    const life = lifeOf(seed, length);
    const lived = await simulate(life);
    if (lived.faults.length > 0) throw new Error(await explained(life, lived));
    count(tally, lived);
  }
  return tally;
}

function count(tally: Tally, { writes, acked, met, killed, mishaps }: Lived): void {
  tally.lives += 1;
  tally.writes += writes;
  tally.acked += acked;
  for (const [what, times] of [...Object.entries({ ...met, killed }), ...mishaps])
    tally.met.set(what, (tally.met.get(what) ?? 0) + times);
}

async function explained(life: Life, lived: Lived): Promise<string> {
  const { short, faults } = await shrunk(life, lived.faults);
  return [
    `seed ${life.seed}: ${lived.faults[0]}`,
    `again: BERTH_SEED=${life.seed} pnpm test:sim`,
    `with ${short.steps.length} of ${life.steps.length} steps: ${faults.slice(0, 5).join("\n  ")}`,
    ...short.steps.map(({ n, step }) => `  ${n}: ${JSON.stringify(step)}`),
  ].join("\n");
}

const SHRINKING_MS = Number(process.env["SIM_SHRINK_MS"] ?? 20_000);

/** Leaves out steps, in halves and then in smaller parts, as long as it still fails. */
async function shrunk(
  life: Life,
  found: readonly string[],
): Promise<{ readonly short: Life; readonly faults: readonly string[] }> {
  const until = performance.now() + SHRINKING_MS;
  let short = life;
  let faults = found;
  for (let size = Math.ceil(life.steps.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let from = 0; from < short.steps.length && performance.now() < until;) {
      const steps = short.steps.toSpliced(from, size);
      const lived = await simulate({ ...short, steps });
      if (lived.faults.length === 0) {
        from += size;
        continue;
      }
      short = { ...short, steps };
      faults = lived.faults;
    }
  return { short, faults };
}
