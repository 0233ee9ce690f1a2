/** The best few, in order; among equals the first one offered stays ahead. */
export class Top<T> {
  readonly list: { readonly item: T; readonly score: number }[] = [];
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** What a newcomer has to beat; below every score while there is room. */
  get worst(): number {
    return this.list.length < this.#max ? Number.NEGATIVE_INFINITY : (this.list.at(-1)?.score ?? 0);
  }

  offer(item: T, score: number): void {
    if (score <= this.worst) return;
    let at = this.list.length;
    while (at > 0 && (this.list[at - 1]?.score ?? 0) < score) at -= 1;
    this.list.splice(at, 0, { item, score });
    if (this.list.length > this.#max) this.list.pop();
  }
}
