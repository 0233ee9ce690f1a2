/**
 * How well the placer packs, against the published state of the art on the same requests in the same run:
 * a cluster that is filled (A), a calendar (B), MIG slices (C). `--quick` takes one sequence of each; the
 * limits are stated for the means of all, so it has none of them.
 */
import type { Figure } from "./figure.ts";
import { calendarFigures } from "./placement-calendar.ts";
import { migFigures } from "./placement-mig.ts";
import { packingFigures } from "./placement-packing.ts";
import { loadTrace } from "./placement-trace.ts";

const NOT_MEASURED = 3;

export async function run({ quick }: { readonly quick: boolean }): Promise<Figure[]> {
  const trace = await loadTrace();
  if (!trace) process.exit(NOT_MEASURED);
  return [
    ...packingFigures(trace, quick),
    ...calendarFigures(trace, quick),
    ...migFigures(trace, quick),
  ];
}
