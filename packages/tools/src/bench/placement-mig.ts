/**
 * Part C: instances of MIG profiles come and go on cards of eight memory slices, which the bench cuts as they
 * come; a pool of ours is cut beforehand. Where each goes is by the domain's score and shortlist. The mix is
 * not learnt: every profile is as likely (ADR 0221).
 */
import { lostParts, packScore, CHOICE_ENOUGH, Shortlist } from "@berth/domain";
import type { Wish } from "@berth/domain";
import type { Figure } from "./figure.ts";
import { mean } from "./placement-trace.ts";
import type { MigProfileOf, Trace } from "./placement-trace.ts";

const SLICES = 8;
const CARDS = 100;
const LOADS = [0.85, 1.1];
/** Points by which the reference may be better. */
const ALLOWED = 0.3;

export function migFigures(trace: Trace, quick: boolean): Figure[] {
  const seeds = quick ? [1] : [1, 2, 3, 4, 5];
  const n = quick ? 6_000 : 12_000;
  return LOADS.flatMap((load) =>
    Object.keys(trace.mig.MIXES).map((mix): Figure => {
      const value = mean(seeds.map((seed) => sliceTime(trace, mix, { seed, load, n })));
      const reference = mean(
        seeds.map((seed) => trace.mig.runMig("MinFrag", mix, { gpus: CARDS, seed, load, n }).slice),
      );
      return {
        id: `mig/${mix} at load ${load}`,
        value,
        unit: "%",
        direction: "higher",
        ...(quick ? {} : { must: reference - ALLOWED }),
        yardstick: { id: "MinFrag", value: reference, unit: "%" },
        ratio: value / reference,
      };
    }),
  );
}

/** Percent of the slice-time asked for that is given, after a quarter of the arrivals. */
function sliceTime(
  { mig, inflate }: Trace,
  mix: string,
  { seed, load, n }: { readonly seed: number; readonly load: number; readonly n: number },
): number {
  const draw = inflate.rng(seed);
  const shares = mig.MIXES[mix] ?? [];
  const all = shares.reduce((sum, share) => sum + share, 0);
  const sizes = shares.reduce((sum, share, i) => sum + share * (mig.PROFILES[i]?.size ?? 0), 0);
  const rate = (load * CARDS * SLICES * all) / sizes;
  // The same draws in the same order as the reference's, so that both are asked for the same.
  const lifetime = (): number => -Math.log((draw(1 << 30) + 0.5) / (1 << 30));
  const cards = new Cards(mig.PROFILES);
  let [now, asked, given] = [0, 0, 0];
  for (let i = 0; i < n; i += 1) {
    now += lifetime() / rate;
    const life = lifetime();
    let ticket = draw(all);
    let at = 0;
    while (ticket >= (shares[at] as number)) ticket -= shares[at++] as number;
    cards.endUntil(now);
    const profile = mig.PROFILES[at] as MigProfileOf;
    const placed = cards.place(profile, now + life);
    if (i <= n / 4) continue;
    asked += profile.size * life;
    if (placed) given += profile.size * life;
  }
  return (100 * given) / asked;
}

class Cards {
  readonly #profiles: readonly MigProfileOf[];
  readonly #wishes: readonly Wish[];
  /** A bit a slice that is taken. */
  readonly #taken = new Uint8Array(CARDS);
  readonly #lost: readonly number[];
  #live: { readonly card: number; readonly slices: number; readonly end: number }[] = [];

  constructor(profiles: readonly MigProfileOf[]) {
    this.#profiles = profiles;
    const weight = 1 / profiles.length;
    this.#wishes = profiles.map(({ size }) => ({ weight, size, amounts: [] }));
    this.#lost = Array.from({ length: 1 << SLICES }, (_, taken) => this.#lostOf(taken));
  }

  endUntil(now: number): void {
    for (const { card, slices, end } of this.#live) if (end <= now) this.#taken[card]! &= ~slices;
    this.#live = this.#live.filter(({ end }) => end > now);
  }

  /** Whether there was room. */
  place(profile: MigProfileOf, end: number): boolean {
    const best = new Shortlist<{ readonly card: number; readonly slices: number }>(
      1,
      CHOICE_ENOUGH,
    );
    this.#taken.forEach((taken, card) => {
      for (const start of profile.starts) {
        const slices = slicesAt(profile, start);
        if (taken & slices) continue;
        const growth = (this.#lost[taken | slices] as number) - (this.#lost[taken] as number);
        best.offer({ card, slices }, packScore(growth));
      }
    });
    const [first] = best.ranked(1, ({ card }) => {
      return { slack: 0, free: freeSlices(this.#taken[card] as number) };
    });
    if (!first) return false;
    const { card, slices } = first.item;
    this.#check(card, slices);
    this.#taken[card]! |= slices;
    this.#live.push({ card, slices, end });
    return true;
  }

  /** No booking on the card has any of the slices: by the bookings, not by what the choice was made from. */
  #check(card: number, slices: number): void {
    const clash = this.#live.some((one) => one.card === card && one.slices & slices);
    if (clash) throw new Error(`card ${card} is overbooked`);
  }

  #lostOf(taken: number): number {
    const times = this.#profiles.map((profile) => {
      let busy = taken;
      let count = 0;
      for (const start of profile.starts) {
        const slices = slicesAt(profile, start);
        if (busy & slices) continue;
        busy |= slices;
        count += 1;
      }
      return count;
    });
    return lostParts(this.#wishes, { parts: freeSlices(taken), times, amounts: [] });
  }
}

function slicesAt({ size }: MigProfileOf, start: number): number {
  return ((1 << size) - 1) << start;
}

function freeSlices(taken: number): number {
  let free = 0;
  for (let slice = 0; slice < SLICES; slice += 1) if (!(taken & (1 << slice))) free += 1;
  return free;
}
