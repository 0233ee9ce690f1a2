/**
 * The best of many places: by score, and of those with one score by what tells them apart more closely,
 * then in the order in which they came. Only the first ones of a score are compared so closely.
 */
import { Top } from "./top.ts";

/** What decides between places of one score: less is better, the first that differs. */
export interface Tie {
  /** Idle time that would be left around the window on what is taken, ms. */
  readonly slack: number;
  /** Parts that are free for the window: the fuller place is filled before the others. */
  readonly free: number;
}

const COMPARED = 16;
/** Where places are filled one after the other, so many are choice enough. */
export const CHOICE_ENOUGH = 256;

export class Shortlist<T> {
  readonly #top = new Top<T>(COMPARED);
  readonly #unbeatable: number;
  readonly #offersMax: number;
  #offers = 0;

  /**
   * @param unbeatable no place scores higher; Infinity when that is not known
   * @param offersMax places to look at; the first ones are filled first
   */
  constructor(unbeatable: number, offersMax: number) {
    this.#unbeatable = unbeatable;
    this.#offersMax = offersMax;
  }

  get isEmpty(): boolean {
    return this.#offers === 0;
  }

  /** Whether it would do to stop here. */
  get isSettled(): boolean {
    return this.#top.worst >= this.#unbeatable || this.#offers >= this.#offersMax;
  }

  offer(item: T, score: number): void {
    this.#offers += 1;
    this.#top.offer(item, score);
  }

  /** The best `most`, best first. */
  ranked(most: number, tieOf: (item: T) => Tie): { readonly item: T; readonly score: number }[] {
    const { list } = this.#top;
    const last = list[Math.min(most, list.length) - 1]?.score ?? 0;
    const able = list.filter(({ score }) => score >= last);
    if (able.length === 1) return able;
    return able
      .map((one) => ({ ...one, tie: tieOf(one.item) }))
      .sort((a, b) => b.score - a.score || a.tie.slack - b.tie.slack || a.tie.free - b.tie.free)
      .slice(0, most)
      .map(({ item, score }) => ({ item, score }));
  }
}
