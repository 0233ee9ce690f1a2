/**
 * Units to slots, counted by kind: whether so many of each kind can serve every slot. A maximum flow, found
 * by pushing one path after the other; there are few kinds and few slots.
 */

/** Units that are alike: the lines that each may serve, their NVLink domain, how many. */
export interface Kind {
  readonly mask: number;
  readonly domain: number;
  readonly count: number;
}

/** Units wanted for a line: from one domain, or from anywhere when that is null. */
export interface Slot {
  readonly line: number;
  readonly domain: number | null;
  readonly wanted: number;
}

export function suits(unit: Pick<Kind, "mask" | "domain">, slot: Slot): boolean {
  const serves = (unit.mask & (1 << slot.line)) !== 0;
  return serves && (slot.domain === null || slot.domain === unit.domain);
}

export function canServe(kinds: readonly Kind[], slots: readonly Slot[]): boolean {
  const flow = new Flow(kinds, slots);
  return slots.every((_, slot) => flow.fill(slot));
}

interface Step {
  readonly slot: number;
  /** The kind over which the slot was reached; -1 for the one to be filled. */
  readonly over: number;
}

class Flow {
  readonly #kinds: readonly Kind[];
  readonly #slots: readonly Slot[];
  readonly #spare: number[];
  /** By slot, then kind: units given. */
  readonly #given: number[][];

  constructor(kinds: readonly Kind[], slots: readonly Slot[]) {
    this.#kinds = kinds;
    this.#slots = slots;
    this.#spare = kinds.map(({ count }) => count);
    this.#given = slots.map(() => kinds.map(() => 0));
  }

  /** Gives the slot all that it wants, moving other units where that makes room. */
  fill(slot: number): boolean {
    let missing = (this.#slots[slot] as Slot).wanted;
    while (missing > 0) {
      const pushed = this.#push(slot, missing);
      if (pushed === 0) return false;
      missing -= pushed;
    }
    return true;
  }

  #push(first: number, most: number): number {
    /** By kind: the slot that looked at it. */
    const lookedFrom = this.#kinds.map(() => -1);
    const reached: Step[] = [{ slot: first, over: -1 }];
    const bySlot = new Map<number, Step>([[first, reached[0] as Step]]);
    for (const { slot } of reached) {
      for (let kind = 0; kind < this.#kinds.length; kind += 1) {
        if (lookedFrom[kind] !== -1) continue;
        if (!suits(this.#kinds[kind] as Kind, this.#slots[slot] as Slot)) continue;
        lookedFrom[kind] = slot;
        if ((this.#spare[kind] as number) > 0)
          return this.#move(kind, { lookedFrom, bySlot, most });
        this.#given.forEach((given, other) => {
          if ((given[kind] as number) === 0 || bySlot.has(other)) return;
          const step = { slot: other, over: kind };
          bySlot.set(other, step);
          reached.push(step);
        });
      }
    }
    return 0;
  }

  /** Walks the path back from a kind with units to spare, first for how many can move, then moving them. */
  #move(
    end: number,
    path: { lookedFrom: readonly number[]; bySlot: ReadonlyMap<number, Step>; most: number },
  ): number {
    let amount = Math.min(path.most, this.#spare[end] as number);
    const moves: { slot: number; takes: number; leaves: number }[] = [];
    for (let kind = end; kind !== -1;) {
      const step = path.bySlot.get(path.lookedFrom[kind] as number) as Step;
      moves.push({ slot: step.slot, takes: kind, leaves: step.over });
      if (step.over !== -1) amount = Math.min(amount, this.#given[step.slot]?.[step.over] ?? 0);
      kind = step.over;
    }
    this.#spare[end]! -= amount;
    for (const { slot, takes, leaves } of moves) {
      const given = this.#given[slot] as number[];
      given[takes]! += amount;
      if (leaves !== -1) given[leaves]! -= amount;
    }
    return amount;
  }
}
