/** Items by a number that may change: the least first; among equals in no stated order. */

/** Whoever is in a heap remembers where. */
export interface Heaped {
  place: number;
}

export class Heap<T extends Heaped> {
  readonly #items: T[] = [];
  readonly #rank: (item: T) => number;

  constructor(rank: (item: T) => number) {
    this.#rank = rank;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    item.place = this.#items.length;
    this.#items.push(item);
    this.settle(item);
  }

  /** After the item's number has changed. */
  settle(item: T): void {
    while (item.place > 0) {
      const parent = this.#items[(item.place - 1) >> 1] as T;
      if (!this.#isBefore(item, parent)) break;
      this.#swap(item, parent);
    }
    for (;;) {
      const left = this.#items[2 * item.place + 1];
      const right = this.#items[2 * item.place + 2];
      const child = left && right && this.#isBefore(right, left) ? right : left;
      if (!child || !this.#isBefore(child, item)) return;
      this.#swap(child, item);
    }
  }

  #isBefore(a: T, b: T): boolean {
    return this.#rank(a) < this.#rank(b);
  }

  #swap(a: T, b: T): void {
    const { place } = a;
    a.place = b.place;
    b.place = place;
    this.#items[a.place] = a;
    this.#items[b.place] = b;
  }
}
