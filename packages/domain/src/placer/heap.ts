/** Items by a number that may change: the least first; among equals in no stated order. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #rank: (item: T) => number;

  constructor(rank: (item: T) => number) {
    this.#rank = rank;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    let at = this.#items.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** After the first item's number has grown. */
  sink(from = 0): void {
    const count = this.#items.length;
    for (let at = from; ;) {
      let least = at;
      for (let child = 2 * at + 1; child <= 2 * at + 2 && child < count; child += 1) {
        if (this.#isBefore(child, least)) least = child;
      }
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  /** After any numbers have changed. */
  rebuild(): void {
    for (let at = (this.#items.length >> 1) - 1; at >= 0; at -= 1) this.sink(at);
  }

  #isBefore(a: number, b: number): boolean {
    return this.#rank(this.#items[a] as T) < this.#rank(this.#items[b] as T);
  }

  #swap(a: number, b: number): void {
    const item = this.#items[a] as T;
    this.#items[a] = this.#items[b] as T;
    this.#items[b] = item;
  }
}
