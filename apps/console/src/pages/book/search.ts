/** The booking form as an address: a link to it brings the form along, filled in. */
import { defined, flagOf, textOf } from "../../app/search.ts";

/** What is kept together; `any`: nothing. */
export const TOGETHER = ["any", "node", "nvlink", "rack", "zone"] as const;
export type TogetherChoice = (typeof TOGETHER)[number];

/** As an address says it: whatever cannot be taken is said by the page, and so it is kept as it stands. */
export interface BookSearch {
  readonly pool?: string;
  /** How many GPUs. */
  readonly gpus?: number | string;
  /** One of `TOGETHER`. */
  readonly together?: string;
  /** Milliseconds since the epoch, or an ISO instant with its zone; absent: now. */
  readonly start?: number | string;
  /** How long, as a person writes it: `7d`. */
  readonly for?: string;
  readonly spot?: true | string;
}

/** More would only be cut off where it is said again. */
const TEXT_MAX = 64;

export function bookSearch(raw: Readonly<Record<string, unknown>>): BookSearch {
  return defined({
    pool: textOf(raw, "pool"),
    gpus: asGiven(raw["gpus"]),
    together: wordsOf(raw["together"]),
    start: asGiven(raw["start"]),
    for: wordsOf(raw["for"]),
    spot: flagOf(raw, "spot") ?? (raw["spot"] === false ? undefined : wordsOf(raw["spot"])),
  });
}

function asGiven(value: unknown): number | string | undefined {
  return typeof value === "number" ? value : wordsOf(value);
}

function wordsOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return (typeof value === "string" ? value : JSON.stringify(value)).slice(0, TEXT_MAX);
}
