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

export class DemandMix<A extends Ask> {
  readonly #usual: readonly A[];
  readonly #kinds = new Map<string, { readonly ask: A; count: number }>();
  #weighed: readonly Weighed<A>[] | null = null;

  /** @param usual expected before anything was booked, each as likely as the others; at least one */
  constructor(usual: readonly A[]) {
    this.#usual = usual;
  }

  /** @param times how often it is booked; negative takes back */
  add(ask: A, times: number): void {
    const known = this.#kinds.get(ask.key);
    const count = (known?.count ?? 0) + times;
    if (count === 0) this.#kinds.delete(ask.key);
    else if (known) known.count = count;
    else this.#kinds.set(ask.key, { ask, count });
    this.#weighed = null;
  }

  /** The kinds that count; the same list until something is added. */
  weighed(): readonly Weighed<A>[] {
    this.#weighed ??= this.#weigh();
    return this.#weighed;
  }

  #weigh(): Weighed<A>[] {
    const kinds = [...this.#kinds.values()]
      .sort((a, b) => b.count - a.count || (a.ask.key < b.ask.key ? -1 : 1))
      .slice(0, KINDS_MAX);
    const all = kinds.reduce((sum, { count }) => sum + count, USUAL_COUNT);
    const usual = USUAL_COUNT / this.#usual.length / all;
    return [
      ...kinds.map(({ ask, count }) => ({ ...ask, weight: count / all })),
      ...this.#usual.map((ask) => ({ ...ask, weight: usual })),
    ];
  }
}
