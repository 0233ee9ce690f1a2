/**
 * How good a place is for a request, in [0, 1]. Only sums, products and divisions in one fixed order, so
 * every machine computes the same.
 *
 * `pack` takes the place whose fragmentation grows least (Weng et al., "Beware of Fragmentation", USENIX
 * ATC '23): of what is free there, each request of the demand mix leaves over what it cannot use, packed in
 * as often as it goes; that is weighed by the request's share of the mix. The growth is cut into coarse
 * steps: places that are about equally good tie, and the order of places, always the same, decides between
 * them, so that one is filled before the next. `spread` takes the emptiest.
 */
export type Policy = "pack" | "spread";

/** A kind of request that the mix expects. */
export interface Wish {
  /** Its share of the mix; all together are 1. */
  readonly weight: number;
  /** Parts that one takes. */
  readonly size: number;
  /** What one takes of each scalar, in the order of `Room.amounts`. */
  readonly amounts: readonly number[];
}

/** What is free at a place. */
export interface Room {
  readonly parts: number;
  /** By wish: how many of it the parts would take, scalars aside; none of one that may not come here. */
  readonly times: ArrayLike<number>;
  /** What is left of each scalar. */
  readonly amounts: ArrayLike<number>;
}

/** Free parts that the mix is expected to leave over. */
export function lostParts(wishes: readonly Wish[], { parts, times, amounts }: Room): number {
  let lost = 0;
  for (let i = 0; i < wishes.length; i += 1) {
    const { weight, size, amounts: asks } = wishes[i] as Wish;
    let most = times[i] as number;
    for (let k = 0; k < asks.length; k += 1) {
      const [ask, left] = [asks[k] as number, amounts[k] as number];
      if (most * ask > left) most = Math.max(0, Math.floor(left / ask));
    }
    lost += weight * (parts - most * size);
  }
  return lost;
}

/** A step is an eighth of a unit. */
const STEPS_A_UNIT = 8;
/** So many steps, what one unit more or less means to the score. */
const SCALE = 16;
/** No two sums of weights that differ by less are different. */
const NOTHING = 1e-6;

/** @param growth of what is lost, in units (GPUs, slots, memory slices) */
export function packScore(growth: number): number {
  const steps = Math.ceil(growth * STEPS_A_UNIT - NOTHING);
  return (1 - steps / (Math.abs(steps) + SCALE)) / 2;
}

/** @param left free units after the request */
export function spreadScore(left: number, total: number): number {
  return total === 0 ? 0 : left / total;
}
