/** What the overview's address carries: the pool whose fit is shown. */
import { defined, textOf } from "../../app/search.ts";

export interface OverviewSearch {
  readonly pool?: string;
}

export function overviewSearch(raw: Readonly<Record<string, unknown>>): OverviewSearch {
  return defined({ pool: textOf(raw, "pool") });
}
