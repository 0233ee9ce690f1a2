/**
 * When which units of each node are booked, for all nodes of a pool in flat arrays: a node's row is a step
 * function of time whose values are sets of units, a bit each. A walk over ten thousand nodes reads one
 * stretch of memory after the other instead of ten thousand calendars.
 */

/** Nodes with more units have no row here. */
export const BITS = 32;
/** What `during` says where a row has so many steps in the window that other ways are faster. */
export const MANY: number = 2 ** 32;

/** So many steps of a row are read one by one. */
const STEPS_READ = 64;
/** Of a summary more are read: that is still less than a look at each of its 32 rows. */
const SUMMARY_READ = 8 * STEPS_READ;
/** All units of a row that has as many as there are bits. */
export const EVERY: number = -1;
const ROOM_FIRST = 8;

interface Window {
  readonly start: number;
  readonly end: number;
}

export class BusyTimes {
  /** By step: when it begins, and the units that are booked from then on. */
  #times = new Float64Array(256);
  #sets = new Int32Array(256);
  /** By row: where its steps begin, how many there are, how many have room. */
  #first = new Int32Array(16);
  #count = new Int32Array(16);
  #room = new Int32Array(16);
  #rows = 0;
  /** Where the next row that needs room begins. */
  #end = 0;
  readonly #closed: number[] = [];
  readonly #summary: BusyTimes | null;
  readonly #stepsRead: number;

  /** @param summary a row there for each 32 rows here, a bit a row: when anything at all is booked in it */
  constructor(summary: BusyTimes | null = null) {
    this.#summary = summary;
    this.#stepsRead = summary ? STEPS_READ : SUMMARY_READ;
  }

  /** The same rows, which go their own way from now on. */
  copy(summary: BusyTimes | null = null): BusyTimes {
    const copy = new BusyTimes(summary);
    copy.#times = this.#times.slice();
    copy.#sets = this.#sets.slice();
    copy.#first = this.#first.slice();
    copy.#count = this.#count.slice();
    copy.#room = this.#room.slice();
    copy.#rows = this.#rows;
    copy.#end = this.#end;
    copy.#closed.push(...this.#closed);
    return copy;
  }

  /** A new row, empty. */
  open(): number {
    const row = this.#closed.pop() ?? this.#rows++;
    if (this.#summary && row >> 5 >= this.#summary.#rows) this.#summary.open();
    if (row >= this.#first.length) {
      this.#first = grown(this.#first);
      this.#count = grown(this.#count);
      this.#room = grown(this.#room);
    }
    this.#count[row] = 0;
    return row;
  }

  close(row: number): void {
    const base = this.#first[row] as number;
    for (let step = base; step < base + (this.#count[row] as number); step += 1)
      if (this.#sets[step] !== 0) this.#summarize(row, step);
    this.#count[row] = 0;
    this.#closed.push(row);
  }

  /** Books the unit in the window where it is free all through it, frees it where it is booked all through. */
  flip(row: number, unit: number, window: Window): void {
    const from = this.#stepAt(row, window.start);
    const to = this.#stepAt(row, window.end);
    const base = this.#first[row] as number;
    for (let step = base + from; step < base + to; step += 1) {
      const before = this.#sets[step] as number;
      const after = before ^ (1 << unit);
      this.#sets[step] = after;
      if (before === 0 || after === 0) this.#summarize(row, step);
    }
    // The later one first: it is where it was.
    this.#dropIfSame(row, to);
    this.#dropIfSame(row, from);
  }

  /**
   * The units that are booked at some time of the window, a bit each; or `MANY`.
   * @param all the units that matter: once each of them was booked, no more is read, and the others may be missing
   */
  during(row: number, { start, end }: Window, all: number): number {
    const base = this.#first[row] as number;
    const stop = base + (this.#count[row] as number);
    const times = this.#times;
    const sets = this.#sets;
    let at = this.#firstAfter(row, start);
    let booked = at > base ? (sets[at - 1] as number) : 0;
    const last = at + this.#stepsRead;
    for (; (booked & all) !== all && at < stop && (times[at] as number) < end; at += 1) {
      if (at === last) return MANY;
      booked |= sets[at] as number;
    }
    return booked;
  }

  /**
   * The mean over the window of what is worth so much while these units are booked; null where the row has so
   * many steps in it that it would take long.
   */
  mean(row: number, { start, end }: Window, worth: (booked: number) => number): number | null {
    const base = this.#first[row] as number;
    const stop = base + (this.#count[row] as number);
    let at = this.#firstAfter(row, start);
    let now = worth(at > base ? (this.#sets[at - 1] as number) : 0);
    if (at === stop || (this.#times[at] as number) >= end) return now;
    const last = at + this.#stepsRead;
    let since = start;
    let sum = 0;
    for (; at < stop; at += 1) {
      const time = this.#times[at] as number;
      if (time >= end) break;
      if (at === last) return null;
      sum += (time - since) * now;
      since = time;
      now = worth(this.#sets[at] as number);
    }
    return (sum + (end - since) * now) / (end - start);
  }

  /** Where the first step is, in the arrays, that begins after the instant. */
  #firstAfter(row: number, time: number): number {
    const times = this.#times;
    let low = this.#first[row] as number;
    let high = low + (this.#count[row] as number);
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((times[mid] as number) <= time) low = mid + 1;
      else high = mid;
    }
    return low;
  }

  /** In this step the row has become empty, or is so no more. */
  #summarize(row: number, step: number): void {
    const [start, end] = [this.#times[step] as number, this.#times[step + 1] as number];
    this.#summary?.flip(row >> 5, row & 31, { start, end });
  }

  /** The place in its row of the step that begins at the instant, which is made if there is none. */
  #stepAt(row: number, time: number): number {
    let base = this.#first[row] as number;
    const count = this.#count[row] as number;
    let low = 0;
    let high = count;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((this.#times[base + mid] as number) < time) low = mid + 1;
      else high = mid;
    }
    if (low < count && this.#times[base + low] === time) return low;
    if (count === this.#room[row]) {
      this.#move(row);
      base = this.#first[row] as number;
    }
    const at = base + low;
    this.#times.copyWithin(at + 1, at, base + count);
    this.#sets.copyWithin(at + 1, at, base + count);
    this.#times[at] = time;
    this.#sets[at] = low > 0 ? (this.#sets[at - 1] as number) : 0;
    this.#count[row] = count + 1;
    return low;
  }

  /** A step that changes nothing is none. */
  #dropIfSame(row: number, step: number): void {
    const base = this.#first[row] as number;
    const at = base + step;
    const before = step > 0 ? (this.#sets[at - 1] as number) : 0;
    if (this.#sets[at] !== before) return;
    const stop = base + (this.#count[row] as number);
    this.#times.copyWithin(at, at + 1, stop);
    this.#sets.copyWithin(at, at + 1, stop);
    this.#count[row]! -= 1;
  }

  /** Moves the row to where it has twice the room. */
  #move(row: number): void {
    const count = this.#count[row] as number;
    const room = Math.max(ROOM_FIRST, 2 * count);
    if (this.#end + room > this.#times.length) this.#makeRoom(room);
    const base = this.#first[row] as number;
    this.#times.copyWithin(this.#end, base, base + count);
    this.#sets.copyWithin(this.#end, base, base + count);
    this.#first[row] = this.#end;
    this.#room[row] = room;
    this.#end += room;
  }

  /** Rows in their order, without the gaps that moved ones left, in arrays with as much room again. */
  #makeRoom(more: number): void {
    let size = more;
    for (let row = 0; row < this.#rows; row += 1) size += roomFor(this.#count[row] as number);
    const times = new Float64Array(size + (size >> 1));
    const sets = new Int32Array(times.length);
    let end = 0;
    for (let row = 0; row < this.#rows; row += 1) {
      const base = this.#first[row] as number;
      const count = this.#count[row] as number;
      times.set(this.#times.subarray(base, base + count), end);
      sets.set(this.#sets.subarray(base, base + count), end);
      this.#first[row] = end;
      this.#room[row] = roomFor(count);
      end += roomFor(count);
    }
    this.#times = times;
    this.#sets = sets;
    this.#end = end;
  }
}

/** A row that has been quiet keeps a little room. */
function roomFor(count: number): number {
  return count === 0 ? 0 : count + (count >> 2) + 2;
}

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * array.length);
  larger.set(array);
  return larger;
}
