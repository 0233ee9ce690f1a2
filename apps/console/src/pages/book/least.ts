/**
 * The least that could be given up: between what is known to fit and what is known not to, asked a handful at a time
 * until no step is left between the two. Pure but for the question.
 */
import type { BookingShape, QuotedShape } from "@berth/client";
import { parseDuration } from "../../format/duration.ts";
import { HOUR_MS, concessionOf, fewerBy, gpusPerMember, shorterBy } from "./concessions.ts";
import type { Concession, Wish } from "./concessions.ts";

/** Answers shapes in their order, in one quote. */
export type AskShapes = (shapes: readonly BookingShape[]) => Promise<readonly QuotedShape[]>;

/** Shapes of one quote for each of the two kinds. */
const TRIES = 7;
/** Quotes of one search at most: 8 x 8 x 8 steps are found in them. */
const ROUNDS = 3;

/** In steps of its kind: `fits` does, or is 0; `fails` does not. */
interface Gap {
  readonly kind: "fewer" | "shorter";
  readonly step: number;
  readonly fits: number;
  readonly fails: number;
}

/**
 * The largest number and the longest time that fit, each with the rest of the form as it is.
 *
 * @param found what is known to fit, of either kind
 * @throws what `ask` throws
 */
export async function leastOf(
  wish: Wish,
  found: readonly Concession[],
  ask: AskShapes,
): Promise<Concession[]> {
  let gaps = [gapOf(wish, "fewer", found), gapOf(wish, "shorter", found)].filter(
    (gap) => gap !== null,
  );
  for (let round = 0; round < ROUNDS; round += 1) {
    const tries = gaps.flatMap((gap) =>
      between(gap).flatMap((at) => concessionAt(wish, gap, at).map((made) => ({ gap, at, made }))),
    );
    if (tries.length === 0) break;
    const answers = await ask(tries.map(({ made }) => made.shape));
    const fit = tries.map(
      (_each, index) => answers[index]?.preview.fits === true && answers[index].quota.ok,
    );
    gaps = gaps.map((gap) =>
      narrowed(
        gap,
        tries.flatMap((each, index) =>
          each.gap === gap ? [{ at: each.at, fits: fit[index] === true }] : [],
        ),
      ),
    );
  }
  return gaps.flatMap((gap) => (gap.fits === 0 ? [] : concessionAt(wish, gap, gap.fits)));
}

/** Whole members first: a gang of other members is another shape. */
function gapOf(wish: Wish, kind: Gap["kind"], found: readonly Concession[]): Gap | null {
  const { form } = wish;
  const known = found.find((each) => each.kind === kind)?.change;
  if (kind === "shorter") {
    const whole = parseDuration(form.duration);
    if (whole === null || whole <= HOUR_MS) return null;
    const fits = parseDuration(known?.duration ?? "") ?? 0;
    return gap({ kind, step: HOUR_MS, fits, whole });
  }
  const whole = Number(form.count);
  const fits = Number(known?.count ?? 0);
  const each = gpusPerMember(wish);
  // Less than one member is asked for by the GPU.
  const step = whole > each && fits >= each && fits % each === 0 ? each : 1;
  return gap({ kind, step, fits, whole });
}

interface Bounds extends Pick<Gap, "kind" | "step" | "fits"> {
  readonly whole: number;
}

function gap({ kind, step, fits, whole }: Bounds): Gap {
  return { kind, step, fits: Math.floor(fits / step), fails: Math.ceil(whole / step) };
}

/** Evenly spread, the ends left out. */
function between({ fits, fails }: Gap): number[] {
  const free = fails - fits - 1;
  const count = Math.min(TRIES, free);
  return Array.from({ length: count }, (_, index) =>
    Math.round(fits + ((index + 1) * (free + 1)) / (count + 1)),
  );
}

function narrowed(
  before: Gap,
  answers: readonly { readonly at: number; readonly fits: boolean }[],
): Gap {
  const fits = Math.max(before.fits, ...answers.filter((each) => each.fits).map(({ at }) => at));
  const failed = answers.filter((each) => !each.fits && each.at > fits).map(({ at }) => at);
  return { ...before, fits, fails: Math.min(before.fails, ...failed) };
}

function concessionAt(wish: Wish, { kind, step }: Gap, at: number): Concession[] {
  const { form } = wish;
  const amount = at * step;
  return concessionOf(
    wish,
    kind === "fewer" ? fewerBy(form, amount) : shorterBy(form.duration, amount),
  );
}
