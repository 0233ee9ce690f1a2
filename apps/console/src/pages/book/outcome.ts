/** What booking would do, as an answer to the form says it. Pure. */
import type { BookingRequest, Candidate, Preview, QuotedShape } from "@berth/client";

/** Which of the candidates would be taken, and which could be instead. */
export interface Placed {
  readonly taken: readonly Candidate[];
  readonly instead: readonly Candidate[];
}

/** Candidates are best first and the first is taken; of several members, or leased nodes, every one is. */
export function placedOf(
  { candidates }: Pick<Preview, "candidates">,
  { gang, binding }: Pick<BookingRequest, "gang" | "binding">,
): Placed {
  const all = gang !== undefined || binding === "node";
  const count = all ? candidates.length : 1;
  return { taken: candidates.slice(0, count), instead: candidates.slice(count) };
}

type Preemptible = NonNullable<Preview["preemptible"]>;

/** Spot bookings that booking would end; null: none. */
export function victimsIn(answer: QuotedShape | null): Preemptible | null {
  if (answer === null || answer.preview.fits) return null;
  return answer.preview.preemptible;
}

/** What booking would end, to be held against what was shown: how many, and whether that is the number or the most. */
export function endsIn(answer: QuotedShape | null): { count: number; exact: boolean } {
  const { count, exact } = victimsIn(answer) ?? { count: 0, exact: true };
  return { count, exact };
}
