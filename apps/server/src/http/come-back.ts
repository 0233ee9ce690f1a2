/**
 * When those who are turned away may come again. Told the same second, they would come together and be turned away
 * together: of each tenant as many calls a second are asked back as its share of what was answered in the last one,
 * after those of it that are in work.
 */

/** Answered a second, until that is known. */
const USUAL = 64;
/** Who has to wait for longer gives up: half of what our client takes in all. */
const LONGEST_SECONDS = 30;
const SECOND = 1_000;
/** Tenants that are remembered before those who may come already are forgotten. */
const REMEMBERED = 1_000;

export interface TurnedAway {
  /** Null: of nobody that is known. */
  readonly tenantId: string | null;
  readonly calls: number;
  /** The tenant's calls that are in work. */
  readonly inWork: number;
  /** Tenants that have calls in work. */
  readonly tenants: number;
}

export class ComeBack {
  #since = 0;
  #answered = 0;
  #aSecond = USUAL;
  /** By tenant, when the last one that was turned away may come. */
  readonly #next = new Map<string | null, number>();

  answered(calls: number): void {
    this.#answered += calls;
  }

  /**
   * @param now milliseconds
   * @returns whole seconds, for `Retry-After`
   */
  seconds(now: number, { tenantId, calls, inWork, tenants }: TurnedAway): number {
    this.#measure(now);
    const each = (SECOND * Math.max(1, tenants)) / this.#aSecond;
    const last = this.#next.get(tenantId) ?? 0;
    const wanted = Math.max(last, now + inWork * each) + Math.max(1, calls) * each;
    const at = Math.min(wanted, now + LONGEST_SECONDS * SECOND);
    this.#next.set(tenantId, at);
    if (this.#next.size > REMEMBERED) this.#forget(now);
    return Math.min(LONGEST_SECONDS, Math.max(1, Math.ceil((at - now) / SECOND)));
  }

  /** What was answered while nobody was turned away says nothing of how much can be. */
  #measure(now: number): void {
    const passed = now - this.#since;
    if (passed < SECOND) return;
    if (passed < 2 * SECOND) this.#aSecond = Math.max(1, (this.#answered * SECOND) / passed);
    this.#since = now;
    this.#answered = 0;
  }

  #forget(now: number): void {
    for (const [tenantId, at] of this.#next) if (at <= now) this.#next.delete(tenantId);
  }
}
