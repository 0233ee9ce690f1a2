/**
 * The bookings of one node's units. Bookings of one unit never overlap, so by start they are by end too,
 * and every question is a binary search. All units share flat arrays, one segment a unit: a placer that
 * walks ten thousand nodes reads a few neighbouring lines of memory for each.
 */
import type { ReservationId } from "../ids.ts";
import { invariant } from "../refusal.ts";
import { BITS } from "./busy-times.ts";
import type { BusyTimes } from "./busy-times.ts";

export interface Booking {
  readonly start: number;
  readonly end: number;
  readonly reservationId: ReservationId;
}

/** So few bookings are read faster one by one. */
const LINEAR_MAX = 8;
const answers = new Uint8Array(512);

/** Units are numbered by their place in the node's list. */
export class Calendar {
  /** Where each unit's segment begins; one more than there are units. */
  readonly #offsets: Int32Array;
  /** Start and end of each booking, one after the other. */
  readonly #times: number[];
  readonly #holders: ReservationId[];
  /** Null when there is no row. */
  readonly #busy: BusyTimes | null;
  /** The node's row there, which says the same of its units in short; -1 for a node with too many. */
  readonly row: number;

  /** @param of with it the new one begins as its copy: at its row of `busy`, or without a row */
  constructor(units: number, busy: BusyTimes | null, of: Calendar | null = null) {
    this.#offsets = of ? of.#offsets.slice() : new Int32Array(units + 1);
    this.#times = of ? [...of.#times] : [];
    this.#holders = of ? [...of.#holders] : [];
    this.#busy = units <= BITS ? busy : null;
    this.row = this.#busy ? (of?.row ?? this.#busy.open()) : -1;
  }

  /**
   * The same bookings, which go their own way from now on.
   * @param busy a copy of what this calendar keeps its row in; null: the copy has no row
   */
  copy(busy: BusyTimes | null): Calendar {
    return new Calendar(this.#offsets.length - 1, busy, this);
  }

  /** To be called when nobody asks it any more. */
  close(): void {
    this.#busy?.close(this.row);
  }

  /** Bookings of all units. */
  get size(): number {
    return this.#holders.length;
  }

  insert(unit: number, booking: Booking): void {
    const { start, end, reservationId } = booking;
    const at = this.#firstEndingAfter(unit, start);
    const next = at < this.#stop(unit) ? (this.#times[2 * at] as number) : Number.POSITIVE_INFINITY;
    // The text is made only when it is needed: loading a pool comes by here for every booking.
    if (start >= end || next < end) invariant(false, `unit ${unit}: clash at [${start}, ${end})`);
    this.#times.splice(2 * at, 0, start, end);
    this.#holders.splice(at, 0, reservationId);
    this.#busy?.flip(this.row, unit, booking);
    for (let u = unit + 1; u < this.#offsets.length; u += 1) this.#offsets[u]! += 1;
  }

  remove(unit: number, start: number, reservationId: ReservationId): void {
    const at = this.#firstEndingAfter(unit, start);
    const found = at < this.#stop(unit) && this.#times[2 * at] === start;
    if (!found || this.#holders[at] !== reservationId) {
      invariant(false, `unit ${unit}: ${reservationId} has no booking at ${start}`);
    }
    const end = this.#times[2 * at + 1] as number;
    this.#times.splice(2 * at, 2);
    this.#holders.splice(at, 1);
    this.#busy?.flip(this.row, unit, { start, end });
    for (let u = unit + 1; u < this.#offsets.length; u += 1) this.#offsets[u]! -= 1;
  }

  /**
   * Which of the units are free for the whole window, a 1 for each that is; the list is used again by the
   * next call. The placer asks this of every node.
   */
  freeOf(
    units: readonly number[],
    window: { readonly start: number; readonly end: number },
  ): Uint8Array {
    const { start, end } = window;
    const offsets = this.#offsets;
    const times = this.#times;
    const free = units.length <= answers.length ? answers : new Uint8Array(units.length);
    for (let i = 0; i < units.length; i += 1) {
      const unit = units[i] as number;
      let at = offsets[unit] as number;
      const stop = offsets[unit + 1] as number;
      if (stop - at > LINEAR_MAX) at = this.#firstEndingAfter(unit, start);
      else while (at < stop && (times[2 * at + 1] as number) <= start) at += 1;
      free[i] = at === stop || (times[2 * at] as number) >= end ? 1 : 0;
    }
    return free;
  }

  /** The units, of at most 32, that are booked at some time of the window, a bit each. */
  bookedIn(window: { readonly start: number; readonly end: number }): number {
    let booked = 0;
    for (let unit = 0; unit < this.#offsets.length - 1; unit += 1) {
      const at = this.#firstEndingAfter(unit, window.start);
      if (at < this.#stop(unit) && (this.#times[2 * at] as number) < window.end)
        booked |= 1 << unit;
    }
    return booked;
  }

  /** As `BusyTimes.mean`; null too for a node that has no row. */
  mean(
    window: { readonly start: number; readonly end: number },
    worth: (booked: number) => number,
  ): number | null {
    return this.#busy?.mean(this.row, window, worth) ?? null;
  }

  /** Start of the first booking that ends after `time`; before `time` when one is running; Infinity for none. */
  nextStart(unit: number, time: number): number {
    const at = this.#firstEndingAfter(unit, time);
    return at < this.#stop(unit) ? (this.#times[2 * at] as number) : Number.POSITIVE_INFINITY;
  }

  /** How long the unit is free before a window in which it is free, and after it, each at most `most`. */
  slackAround(
    unit: number,
    window: { readonly start: number; readonly end: number },
    most: number,
  ): number {
    const at = this.#firstEndingAfter(unit, window.start);
    const times = this.#times;
    const before = at === this.#offsets[unit] ? most : window.start - (times[2 * at - 1] as number);
    const after = at === this.#stop(unit) ? most : (times[2 * at] as number) - window.end;
    return Math.min(most, before) + Math.min(most, after);
  }

  /** The first instant at or after `time` from which the unit is free for `duration`. */
  nextFree(unit: number, time: number, duration: number): number {
    let from = time;
    const stop = this.#stop(unit);
    for (let at = this.#firstEndingAfter(unit, time); at < stop; at += 1) {
      if ((this.#times[2 * at] as number) - from >= duration) return from;
      from = Math.max(from, this.#times[2 * at + 1] as number);
    }
    return from;
  }

  /** Calls with each booking of the unit that overlaps `[start, end)`, in order. */
  eachOverlapping(
    unit: number,
    window: { readonly start: number; readonly end: number },
    visit: (start: number, end: number) => void,
  ): void {
    const stop = this.#stop(unit);
    for (let at = this.#firstEndingAfter(unit, window.start); at < stop; at += 1) {
      const start = this.#times[2 * at] as number;
      if (start >= window.end) return;
      visit(start, this.#times[2 * at + 1] as number);
    }
  }

  /**
   * Adds when the unit is taken in the window and when it is free again: twice the instant, and one more
   * where it becomes free. Sorted, they tell how many units are taken when.
   */
  edgesIn(
    unit: number,
    window: { readonly start: number; readonly end: number },
    edges: { readonly list: number[]; readonly max: number },
  ): void {
    const stop = this.#stop(unit);
    for (let at = this.#firstEndingAfter(unit, window.start); at < stop; at += 1) {
      const start = this.#times[2 * at] as number;
      if (start >= window.end || edges.list.length > edges.max) return;
      edges.list.push(2 * Math.max(start, window.start));
      edges.list.push(2 * Math.min(this.#times[2 * at + 1] as number, window.end) + 1);
    }
  }

  /** Whoever holds the unit at some time of the window, in order. */
  holdersIn(
    unit: number,
    window: { readonly start: number; readonly end: number },
  ): ReservationId[] {
    const found: ReservationId[] = [];
    const stop = this.#stop(unit);
    for (let at = this.#firstEndingAfter(unit, window.start); at < stop; at += 1) {
      if ((this.#times[2 * at] as number) >= window.end) break;
      found.push(this.#holders[at] as ReservationId);
    }
    return found;
  }

  /** The unit's bookings, by start. */
  bookingsOf(unit: number): Booking[] {
    const list: Booking[] = [];
    for (let at = this.#offsets[unit] as number; at < this.#stop(unit); at += 1) {
      list.push({
        start: this.#times[2 * at] as number,
        end: this.#times[2 * at + 1] as number,
        reservationId: this.#holders[at] as ReservationId,
      });
    }
    return list;
  }

  /** Whoever holds a unit of this node. */
  holders(): Set<ReservationId> {
    return new Set(this.#holders);
  }

  #stop(unit: number): number {
    return this.#offsets[unit + 1] as number;
  }

  #firstEndingAfter(unit: number, time: number): number {
    let low = this.#offsets[unit] as number;
    let high = this.#offsets[unit + 1] as number;
    const times = this.#times;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((times[2 * mid + 1] as number) <= time) low = mid + 1;
      else high = mid;
    }
    return low;
  }
}
