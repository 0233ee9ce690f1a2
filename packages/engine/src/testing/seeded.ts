/** Random numbers and bytes that a seed gives again: mulberry32. */
export interface Seeded {
  /** In [0, 1). */
  next(): number;
  below(n: number): number;
  bytes(count: number): Uint8Array;
}

export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (n: number): number => Math.floor(next() * n);
  const bytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => below(256));
  return { next, below, bytes };
}
