/**
 * How far the feed is behind the newest commit: what it has shown up to now had all begun by some moment, and
 * the age of that moment is the lag. An open transaction anywhere in the cluster holds the feed, so this is
 * also the alarm for one.
 */
import type { Place } from "../groups/events/cursor.ts";

/** Moments kept apart by at least this. */
const APART_MS = 100;
const MOMENTS_MAX = 10_000;

interface Moment {
  /** Transactions below this number had begun by then. */
  readonly newest: bigint;
  readonly at: number;
}

export class Lag {
  #moments: Moment[] = [];
  /** The latest moment of which all is shown. */
  #shownAt: number | null = null;

  /** The feed has come to the place; the next transaction gets the number. */
  seen(place: Place, newest: string, now: number = performance.now()): void {
    const last = this.#moments.at(-1);
    if ((!last || now - last.at >= APART_MS) && this.#moments.length < MOMENTS_MAX)
      this.#moments.push({ newest: BigInt(newest), at: now });
    const shown = BigInt(place.xid);
    const index = this.#moments.findLastIndex((moment) => moment.newest <= shown + 1n);
    if (index < 0) {
      this.#shownAt ??= now;
      return;
    }
    this.#shownAt = this.#moments[index]?.at ?? now;
    this.#moments = this.#moments.slice(index + 1);
  }

  /** Milliseconds; 0 while nobody watches. */
  ms(now: number = performance.now()): number {
    return this.#shownAt === null ? 0 : now - this.#shownAt;
  }

  forget(): void {
    this.#moments = [];
    this.#shownAt = null;
  }
}
