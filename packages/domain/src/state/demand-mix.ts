/**
 * What is asked for, learnt from what was booked: every booking is an example of the requests to come. The
 * mix is a sum over bookings, in whatever order they came, so servers with the same bookings have the same.
 */

/** A kind of request. */
export interface Ask {
  /** One for asks that are alike. */
  readonly key: string;
  /** Parts that one takes. */
  readonly size: number;
  /** What one takes of each scalar. */
  readonly amounts: readonly number[];
}

export type Weighed<A extends Ask> = A & {
  /** Its share; all together are 1. */
  readonly weight: number;
};

/** Kinds that count, the most frequent ones. */
const KINDS_MAX = 64;
/** What is usual counts as so many bookings: it is all there is at first, and next to nothing in the end. */
const USUAL_COUNT = 16;

interface Kind<A extends Ask> {
  readonly ask: A;
  readonly count: number;
}

export class DemandMix<A extends Ask> {
  readonly #usual: readonly A[];
  readonly #kinds = new Map<string, Kind<A>>();
  /** The most frequent first; null until somebody asks, so that a pool is loaded without it. */
  #ranked: Kind<A>[] | null = null;
  #weighed: readonly Weighed<A>[] | null = null;

  /** @param usual expected before anything was booked, each as likely as the others; at least one */
  constructor(usual: readonly A[]) {
    this.#usual = usual;
  }

  /** @param times how often it is booked; negative takes back */
  add(ask: A, times: number): void {
    const old = this.#kinds.get(ask.key);
    const next = { ask, count: (old?.count ?? 0) + times };
    if (next.count === 0) this.#kinds.delete(ask.key);
    else this.#kinds.set(ask.key, next);
    this.#weighed = null;
    const ranked = this.#ranked;
    if (!ranked) return;
    if (old) ranked.splice(placeIn(ranked, old), 1);
    if (next.count !== 0) ranked.splice(placeIn(ranked, next), 0, next);
  }

  /** The kinds that count; the same list until something is added. */
  weighed(): readonly Weighed<A>[] {
    this.#weighed ??= this.#weigh();
    return this.#weighed;
  }

  #weigh(): Weighed<A>[] {
    this.#ranked ??= [...this.#kinds.values()].sort(compare);
    const kinds = this.#ranked.slice(0, KINDS_MAX);
    const all = kinds.reduce((sum, { count }) => sum + count, USUAL_COUNT);
    const usual = USUAL_COUNT / this.#usual.length / all;
    return [
      ...kinds.map(({ ask, count }) => ({ ...ask, weight: count / all })),
      ...this.#usual.map((ask) => ({ ...ask, weight: usual })),
    ];
  }
}

/** No two kinds are equal in this order, so it does not tell in which order they came. */
function compare<A extends Ask>(a: Kind<A>, b: Kind<A>): number {
  return b.count - a.count || (a.ask.key < b.ask.key ? -1 : a.ask.key === b.ask.key ? 0 : 1);
}

/** Where the kind is, or belongs. */
function placeIn<A extends Ask>(ranked: readonly Kind<A>[], kind: Kind<A>): number {
  let low = 0;
  let high = ranked.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (compare(ranked[mid] as Kind<A>, kind) < 0) low = mid + 1;
    else high = mid;
  }
  return low;
}
