/** What the address of this page carries beside the tenant and the selection. */
import { defined, textOf, wordOf } from "../../app/search.ts";

export interface ActivitySearch {
  /** Calls that were refused alone. */
  readonly outcome?: "refused";
  /** Entries that have this in them. */
  readonly q?: string;
}

export function activitySearch(raw: Readonly<Record<string, unknown>>): ActivitySearch {
  return defined({
    outcome: wordOf(raw, "outcome", ["refused"]),
    q: textOf(raw, "q"),
  });
}
