/** What the address of this page carries beside the tenant and the selection. */
import type { Within } from "./order.ts";
import { defined, instantOf, textOf, wordOf } from "../../app/search.ts";

/** What the table shows: what is not over, everything, or one state. */
export const STATES = [
  "live",
  "all",
  "scheduled",
  "active",
  "preempting",
  "completed",
  "released",
  "expired",
  "preempted",
  "terminated",
] as const;
export type StateFilter = (typeof STATES)[number];

export interface ReservationsSearch {
  /** Absent: the calendar. */
  readonly view?: "table";
  /** What a lane of the calendar is; absent: a node. */
  readonly by?: "reservation";
  readonly pool?: string;
  /** Absent: live. */
  readonly state?: StateFilter;
  /** How far from now the table looks; absent: at any time. */
  readonly within?: Within;
  /** The window of the calendar; absent: about now. */
  readonly from?: number;
  readonly to?: number;
}

export function reservationsSearch(raw: Readonly<Record<string, unknown>>): ReservationsSearch {
  const [from, to] = [instantOf(raw, "from"), instantOf(raw, "to")];
  const isWindow = from !== undefined && to !== undefined && from < to;
  return defined({
    view: wordOf(raw, "view", ["table"]),
    by: wordOf(raw, "by", ["reservation"]),
    pool: textOf(raw, "pool"),
    state: wordOf(raw, "state", STATES),
    within: wordOf(raw, "within", ["24h", "7d", "30d"]),
    from: isWindow ? from : undefined,
    to: isWindow ? to : undefined,
  });
}
