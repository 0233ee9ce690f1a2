/** What the address of this page carries beside the tenant and the selection. */
import { defined, flagOf, textOf, wordOf } from "../../app/search.ts";

export const KINDS = ["all", "owned", "offered", "archived"] as const;
export type PoolKind = (typeof KINDS)[number];

export interface PoolsSearch {
  /** Pools whose label, model, region or id has this in it. */
  readonly q?: string;
  /** Absent: all that are not archived. */
  readonly kind?: PoolKind;
  readonly model?: string;
  readonly sharing?: string;
  /** What I have booked across all pools, in place of the list. */
  readonly mine?: true;
  /** The form of a new pool is open. */
  readonly fresh?: true;
}

export function poolsSearch(raw: Readonly<Record<string, unknown>>): PoolsSearch {
  return defined({
    q: textOf(raw, "q"),
    kind: wordOf(raw, "kind", KINDS),
    model: textOf(raw, "model"),
    sharing: textOf(raw, "sharing"),
    mine: flagOf(raw, "mine"),
    fresh: flagOf(raw, "fresh"),
  });
}
