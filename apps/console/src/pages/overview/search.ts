/** What the overview's address carries: the pool whose fit is shown, and for how long. */
import { defined, textOf, wordOf } from "../../app/search.ts";

export interface OverviewSearch {
  readonly pool?: string;
  /** Absent: 1 h. */
  readonly for?: "8h" | "1d" | "7d";
}

export function overviewSearch(raw: Readonly<Record<string, unknown>>): OverviewSearch {
  return defined({ pool: textOf(raw, "pool"), for: wordOf(raw, "for", ["8h", "1d", "7d"]) });
}
