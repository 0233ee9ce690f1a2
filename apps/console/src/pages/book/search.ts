/** The booking form as an address: a link to it brings the form along, filled in. */
import { defined, flagOf, instantOf, numberOf, textOf, wordOf } from "../../app/search.ts";

/** What is kept together; `any`: nothing. */
export const TOGETHER = ["any", "node", "nvlink", "rack", "zone"] as const;
export type TogetherChoice = (typeof TOGETHER)[number];

export interface BookSearch {
  readonly pool?: string;
  /** How many GPUs. */
  readonly gpus?: number;
  readonly together?: TogetherChoice;
  /** Milliseconds since the epoch; absent: now. */
  readonly start?: number;
  /** How long, as a person writes it: `7d`. */
  readonly for?: string;
  readonly spot?: true;
}

export function bookSearch(raw: Readonly<Record<string, unknown>>): BookSearch {
  const gpus = numberOf(raw, "gpus");
  return defined({
    pool: textOf(raw, "pool"),
    gpus: gpus !== undefined && Number.isInteger(gpus) && gpus > 0 ? gpus : undefined,
    together: wordOf(raw, "together", TOGETHER),
    start: instantOf(raw, "start"),
    for: textOf(raw, "for"),
    spot: flagOf(raw, "spot"),
  });
}
