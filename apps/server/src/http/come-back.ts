/**
 * When those who are turned away may come again. Told the same second, they would come together and be turned away
 * together: as many a second are asked back as were answered in the last one, after those that are in work.
 */

/** Answered a second, until that is known. */
const USUAL = 64;
/** Who has to wait for longer gives up. */
const LONGEST_MS = 10_000;
const SECOND = 1_000;

export class ComeBack {
  #since = 0;
  #answered = 0;
  #aSecond = USUAL;
  #next = 0;

  answered(calls: number): void {
    this.#answered += calls;
  }

  /**
   * One more is turned away.
   * @param inWork calls that are to be answered first
   * @returns whole seconds, for `Retry-After`
   */
  seconds(now: number, inWork: number): number {
    this.#measure(now);
    const each = SECOND / this.#aSecond;
    this.#next = Math.min(Math.max(this.#next + each, now + inWork * each), now + LONGEST_MS);
    return Math.max(1, Math.ceil((this.#next - now) / SECOND));
  }

  /** What was answered while nobody was turned away says nothing of how much can be. */
  #measure(now: number): void {
    const passed = now - this.#since;
    if (passed < SECOND) return;
    this.#aSecond = passed < 2 * SECOND ? Math.max(1, (this.#answered * SECOND) / passed) : USUAL;
    this.#since = now;
    this.#answered = 0;
  }
}
