/** What the address of this page carries beside the tenant and the selection. */
import { defined, numberOf, textOf, wordOf } from "../../app/search.ts";

/** How long the fit ladder asks for. */
const LADDER = ["1h", "8h", "1d", "7d"] as const;

export interface PoolSearch {
  /** How far the timeline looks; absent: 24 h. */
  readonly span?: "7d";
  /** How the map puts nodes together; absent: by rack. */
  readonly group?: "nvlink";
  /** How long the fit ladder asks for; absent: a day. */
  readonly ladder?: (typeof LADDER)[number];
  /** Only the nodes that this cause of a reason rules out. */
  readonly cause?: string;
  /** The window that the cause was said of; absent: now. */
  readonly start?: number;
  readonly end?: number;
  /** GPUs of one node that were asked for. */
  readonly gpus?: number;
  /** The GPU on the map that is looked at, where none of the tenant's bookings is. */
  readonly unit?: string;
}

export function poolSearch(raw: Readonly<Record<string, unknown>>): PoolSearch {
  return defined({
    span: wordOf(raw, "span", ["7d"]),
    group: wordOf(raw, "group", ["nvlink"]),
    ladder: wordOf(raw, "ladder", LADDER),
    cause: textOf(raw, "cause"),
    start: numberOf(raw, "start"),
    end: numberOf(raw, "end"),
    gpus: numberOf(raw, "gpus"),
    unit: textOf(raw, "unit"),
  });
}
