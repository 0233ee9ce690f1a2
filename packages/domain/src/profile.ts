/**
 * A step function of time: how much of something is in use at each instant. Kept as changes of level in
 * chunks that know their sum and their highest prefix, so an update touches one chunk and a peak reads
 * one number a chunk: O(√n) in the points.
 */
const CHUNK_MAX = 96;

interface Chunk {
  readonly times: number[];
  readonly deltas: number[];
  /** Sum of the deltas. */
  sum: number;
  /** The highest sum of a non-empty prefix of the deltas. */
  high: number;
}

/** Amounts are exact integers; the level is 0 before the first point. */
export class Profile {
  readonly #chunks: Chunk[] = [];

  /** Adds `amount` (negative takes back) on `[start, end)`; the exact inverse leaves no trace. */
  add(start: number, end: number, amount: number): void {
    if (amount === 0 || start >= end) return;
    this.#bump(start, amount);
    this.#bump(end, -amount);
  }

  /** The same amounts, which go their own way from now on. */
  copy(): Profile {
    const copy = new Profile();
    for (const { times, deltas, sum, high } of this.#chunks)
      copy.#chunks.push({ times: [...times], deltas: [...deltas], sum, high });
    return copy;
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** The level at one instant. */
  at(time: number): number {
    return this.peak(time, time + 1);
  }

  /** The highest level on `[start, end)`, never below 0; 0 for an empty window. */
  peak(start: number, end: number): number {
    if (start >= end) return 0;
    let level = 0;
    let best = 0;
    let inside = false;
    for (let c = 0; c < this.#chunks.length; c += 1) {
      const chunk = this.#chunks[c] as Chunk;
      const { times, deltas } = chunk;
      if ((times[0] as number) >= end) break;
      const last = times[times.length - 1] as number;
      if (last <= start) {
        level += chunk.sum;
        continue;
      }
      if (!inside && (times[0] as number) > start) {
        inside = true;
        best = Math.max(best, level);
      }
      if (inside && last < end) {
        best = Math.max(best, level + chunk.high);
        level += chunk.sum;
        continue;
      }
      for (let i = 0; i < times.length; i += 1) {
        const time = times[i] as number;
        if (time >= end) break;
        if (!inside && time > start) {
          inside = true;
          best = Math.max(best, level);
        }
        level += deltas[i] as number;
        if (inside) best = Math.max(best, level);
      }
    }
    return inside ? best : Math.max(0, level);
  }

  /** The highest level from an instant on. */
  peakFrom(at: number): number {
    return this.peak(at, Number.POSITIVE_INFINITY);
  }

  /** The first instant at or after `from` at which the level is above `limit`; null when there is none. */
  firstAbove(from: number, limit: number): number | null {
    let level = 0;
    let inside = false;
    for (const chunk of this.#chunks) {
      for (let i = 0; i < chunk.times.length; i += 1) {
        const time = chunk.times[i] as number;
        if (!inside && time > from) {
          if (level > limit) return from;
          inside = true;
        }
        level += chunk.deltas[i] as number;
        if (inside && level > limit) return time;
      }
    }
    return !inside && level > limit ? from : null;
  }

  /**
   * When the last step above `limit` that touches `[start, end)` is over; `start` when none does. A
   * window of the same length that begins after `start` and before that instant still touches the step.
   */
  clearAfter(start: number, end: number, limit: number): number {
    if (start >= end) return start;
    let clear = start;
    let level = 0;
    for (const [time, next] of this.points()) {
      if (level > limit && time > start) clear = time;
      if (time >= end) break;
      level = next;
    }
    return clear;
  }

  /** Every change of level, as `[instant, level from then on]`. */
  *points(): Generator<readonly [number, number], void, void> {
    let level = 0;
    for (const chunk of this.#chunks) {
      for (let i = 0; i < chunk.times.length; i += 1) {
        level += chunk.deltas[i] as number;
        yield [chunk.times[i] as number, level];
      }
    }
  }

  #bump(time: number, delta: number): void {
    const chunks = this.#chunks;
    if (chunks.length === 0) chunks.push({ times: [], deltas: [], sum: 0, high: 0 });
    const at = Math.max(0, lastAtOrBefore(chunks, time));
    const chunk = chunks[at] as Chunk;
    const { times, deltas } = chunk;
    const i = lowerBound(times, time);
    if (times[i] === time) {
      const next = (deltas[i] as number) + delta;
      if (next === 0) {
        times.splice(i, 1);
        deltas.splice(i, 1);
      } else deltas[i] = next;
    } else {
      times.splice(i, 0, time);
      deltas.splice(i, 0, delta);
    }
    if (times.length === 0) chunks.splice(at, 1);
    else if (times.length <= CHUNK_MAX) measure(chunk);
    else {
      const half = times.length >> 1;
      const right: Chunk = {
        times: times.splice(half),
        deltas: deltas.splice(half),
        sum: 0,
        high: 0,
      };
      measure(chunk);
      measure(right);
      chunks.splice(at + 1, 0, right);
    }
  }
}

function measure(chunk: Chunk): void {
  let sum = 0;
  let high = Number.NEGATIVE_INFINITY;
  for (const delta of chunk.deltas) {
    sum += delta;
    if (sum > high) high = sum;
  }
  chunk.sum = sum;
  chunk.high = high;
}

function lastAtOrBefore(chunks: readonly Chunk[], time: number): number {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (((chunks[mid] as Chunk).times[0] as number) <= time) low = mid + 1;
    else high = mid;
  }
  return low - 1;
}

/** The first position whose value is not below `value`. */
function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((sorted[mid] as number) < value) low = mid + 1;
    else high = mid;
  }
  return low;
}
