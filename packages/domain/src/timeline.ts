/** How many whole GPUs are booked in each bucket of time. */
import type { TenantId } from "./ids.ts";
import type { NodeEntry } from "./state/node-entry.ts";
import { EVERY } from "./state/busy-times.ts";
import type { PoolState } from "./state/pool-state.ts";
import { through } from "./steps.ts";
import { withheldTerms } from "./unit-reservations/hidden.ts";

const MINUTE_MS = 60_000;
const NODES_A_YIELD = 256;

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
  return through(timelineSteps(state, window, reader));
}

/**
 * The same, pausing every few hundred nodes (well under 5 ms). When the state changed during a pause, it begins
 * anew and then runs through.
 */
export function* timelineSteps(
  state: PoolState,
  window: TimelineWindow,
  reader: TenantId | null = null,
): Generator<void, Timeline, void> {
  const { revision } = state;
  const tally = new BucketTally(state, window, reader);
  for (let at = 0; at < state.entries.length; at += 1) {
    tally.add(state.entries[at] as NodeEntry);
    if ((at + 1) % NODES_A_YIELD !== 0) continue;
    yield;
    if (state.revision !== revision) return timeline(state, window, reader);
  }
  return tally.timeline();
}

class BucketTally {
  readonly #state: PoolState;
  readonly #window: TimelineWindow;
  readonly #reader: TenantId | null;
  readonly #step: number;
  readonly #size: number;
  /** How many more GPUs are booked in a bucket than in the one before it. */
  readonly #change: Int32Array;
  /** First bucket in which the unit at hand is not counted yet. */
  #next = 0;

  constructor(state: PoolState, window: TimelineWindow, reader: TenantId | null) {
    this.#state = state;
    this.#window = window;
    this.#reader = reader;
    this.#step = window.stepMinutes * MINUTE_MS;
    this.#size = Math.max(0, Math.ceil((window.to - window.from) / this.#step));
    this.#change = new Int32Array(this.#size + 1);
  }

  add(entry: NodeEntry): void {
    const { shape, calendar, terms } = entry;
    if (calendar.size === 0 && !terms) return;
    const span = { start: this.#window.from, end: this.#window.to };
    // Most nodes of a large pool have nothing in a window that is far off.
    if (!terms && calendar.row >= 0) {
      if (this.#state.roster.busy.during(calendar.row, span, EVERY) === 0) return;
    }
    for (let unit = 0; unit < shape.units.length; unit += 1) {
      if (shape.units[unit]?.class !== "gpu") continue;
      this.#next = 0;
      if (terms?.[unit]?.length)
        for (const [s, e] of takenOf(entry, unit, { span, reader: this.#reader }))
          this.#count(s, e);
      else calendar.eachOverlapping(unit, span, this.#count);
    }
  }

  timeline(): Timeline {
    const { from } = this.#window;
    const gpus = this.#state.rollup().find((row) => row.resource === "gpu");
    const allocatable = gpus?.allocatable ?? 0;
    let booked = 0;
    const buckets = Array.from({ length: this.#size }, (_, i) => {
      booked += this.#change[i] as number;
      const free = Math.max(0, allocatable - booked);
      return { start: from + i * this.#step, booked, free };
    });
    return { allocatable, buckets };
  }

  readonly #count = (start: number, end: number): void => {
    const { from } = this.#window;
    const first = Math.max(this.#next, Math.floor((start - from) / this.#step));
    const last = Math.min(this.#size, Math.ceil((end - from) / this.#step));
    if (first >= last) return;
    this.#change[first]! += 1;
    this.#change[last]! -= 1;
    this.#next = last;
  };
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
