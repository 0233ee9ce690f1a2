/**
 * How well the placer packs, against the published state of the art on the same requests in the same run:
 * a cluster that is filled (A), a calendar (B), MIG slices (C). `--quick` takes one sequence of each; the
 * limits are stated for the means of all, so it has none of them. `--slots 2,4,8` takes the cluster alone, its
 * cards cut into so many slots, beside the reference at as many.
 */
import type { Figure, Run } from "./figure.ts";
import { calendarFigures } from "./placement-calendar.ts";
import { migFigures } from "./placement-mig.ts";
import { packingFigures } from "./placement-packing.ts";
import { loadTrace } from "./placement-trace.ts";

const NOT_MEASURED = 3;

export async function run({ quick, slots }: Parameters<Run>[0]): Promise<Figure[]> {
  const trace = await loadTrace();
  if (!trace) process.exit(NOT_MEASURED);
  if (slots.length > 0) return slots.flatMap((count) => packingFigures(trace, quick, count));
  return [
    ...packingFigures(trace, quick),
    ...calendarFigures(trace, quick),
    ...migFigures(trace, quick),
  ];
}
