/** How many whole GPUs are booked in each bucket of time. */
import type { TenantId } from "./ids.ts";
import type { NodeEntry } from "./state/node-entry.ts";
import type { PoolState } from "./state/pool-state.ts";
import { withheldTerms } from "./unit-reservations/hidden.ts";

const MINUTE_MS = 60_000;

/** `to` is after `from`; the caller bounds the number of buckets. */
export interface TimelineWindow {
  readonly from: number;
  readonly to: number;
  readonly stepMinutes: number;
}

export interface Timeline {
  /** The present gpu row's. */
  readonly allocatable: number;
  readonly buckets: readonly TimelineBucket[];
}

export interface TimelineBucket {
  readonly start: number;
  /** Distinct GPUs with a live booking that overlaps `[start, start + step)`, the last one cut at `to`. */
  readonly booked: number;
  /** `allocatable - booked`, never below 0. */
  readonly free: number;
}

/** @param reader for whom units count as booked while they are withheld from it; null: none are */
export function timeline(
  state: PoolState,
  window: TimelineWindow,
  reader: TenantId | null = null,
): Timeline {
  const step = window.stepMinutes * MINUTE_MS;
  const size = Math.max(0, Math.ceil((window.to - window.from) / step));
  const span = { start: window.from, end: window.to };
  /** How many more GPUs are booked in a bucket than in the one before it. */
  const change = new Int32Array(size + 1);
  /** First bucket in which the unit at hand is not counted yet. */
  let next = 0;
  const count = (start: number, end: number): void => {
    const first = Math.max(next, Math.floor((start - window.from) / step));
    const last = Math.min(size, Math.ceil((end - window.from) / step));
    if (first >= last) return;
    change[first]! += 1;
    change[last]! -= 1;
    next = last;
  };
  for (const entry of state.entries) {
    const { shape, calendar, terms } = entry;
    if (calendar.size === 0 && !terms) continue;
    for (let unit = 0; unit < shape.units.length; unit += 1) {
      if (shape.units[unit]?.class !== "gpu") continue;
      next = 0;
      if (terms?.[unit]?.length)
        for (const [s, e] of takenOf(entry, unit, { span, reader })) count(s, e);
      else calendar.eachOverlapping(unit, span, count);
    }
  }
  const allocatable = state.rollup().find((row) => row.resource === "gpu")?.allocatable ?? 0;
  let booked = 0;
  const buckets = Array.from({ length: size }, (_, i) => {
    booked += change[i] as number;
    return { start: window.from + i * step, booked, free: Math.max(0, allocatable - booked) };
  });
  return { allocatable, buckets };
}

type Span = readonly [start: number, end: number];

/** When the unit is booked or withheld from the reader, by start; the spans may overlap. */
function takenOf(
  { calendar, node, terms }: NodeEntry,
  unit: number,
  { span, reader }: { span: { start: number; end: number }; reader: TenantId | null },
): Span[] {
  const taken: Span[] = [];
  calendar.eachOverlapping(unit, span, (start, end) => taken.push([start, end]));
  const unitId = node.units[unit]?.id;
  if (reader !== null && unitId !== undefined)
    for (const { start, end } of withheldTerms(terms?.[unit] ?? [], { unitId, tenantId: reader }))
      if (start < span.end && end > span.start) taken.push([start, end]);
  return taken.sort(([a], [b]) => a - b);
}
