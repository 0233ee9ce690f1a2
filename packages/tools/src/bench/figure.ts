/** What a bench reports, and how several runs become one figure. */

export interface Figure {
  /** Stable, so that runs of different days can be compared. */
  readonly id: string;
  readonly value: number;
  readonly unit: string;
  readonly direction: "higher" | "lower";
  /** The run fails when the value is worse. */
  readonly must?: number;
  /** Where it should get to. */
  readonly aim?: number;
  /** Something measured in the same run to compare with. */
  readonly yardstick?: { readonly id: string; readonly value: number; readonly unit: string };
  /** Value over yardstick. */
  readonly ratio?: number;
}

/** A figure over several runs: the median one, with the least and the greatest value seen. */
export interface Summary extends Figure {
  readonly spread: readonly [number, number];
}

/** One bench: every file beside `main.ts` that a person can name exports one as `run`. */
export type Run = (options: {
  readonly quick: boolean;
  /** Slots of a card, each to be measured; none: whole cards and exact shares. */
  readonly slots: readonly number[];
}) => Promise<Figure[]>;

export function summarize(runs: readonly (readonly Figure[])[]): Summary[] {
  const byId = new Map<string, Figure[]>();
  for (const figure of runs.flat()) {
    byId.set(figure.id, [...(byId.get(figure.id) ?? []), figure]);
  }
  return [...byId.values()].map((figures) => {
    const sorted = figures.toSorted((a, b) => a.value - b.value);
    const median = sorted[(sorted.length - 1) >> 1] as Figure;
    const values = sorted.map((figure) => figure.value);
    return { ...median, spread: [values[0] as number, values.at(-1) as number] };
  });
}

/** What could not be measured (`NaN`) is missed too. */
export function missesMust({ value, must, direction }: Figure): boolean {
  if (must === undefined) return false;
  return !(direction === "lower" ? value <= must : value >= must);
}

/** The value below which the share of the samples lies. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1));
  return sorted[at] ?? Number.NaN;
}
