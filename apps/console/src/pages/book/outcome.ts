/** What booking would do, as an answer to the form says it. Pure. */
import type { BookingRequest, Candidate, Preview, QuotedShape } from "@berth/client";
import { byName } from "../../format/by-name.ts";
import { countText } from "../../format/gpus.ts";

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

/** More are counted: the map has them all. */
const NAMES_MAX = 4;
/** As many as an answer names; there may be more. */
const CANDIDATES_MAX = 10;

/** `h100-01, h100-02`, by name, each once. */
function namesText(candidates: readonly Candidate[]): string {
  const names = [...new Set(candidates.map(({ nodeName }) => nodeName))].toSorted(byName);
  const more = names.length - NAMES_MAX;
  const shown = names.slice(0, NAMES_MAX).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** `Takes h100-03, marked on the map; 9 other nodes could take it instead`. */
export function takenText({ instead, taken }: Placed): string {
  const others = countOf(instead);
  const rest = others === 0 ? "" : `; ${countText(others, "other node")} could take it instead`;
  return `Takes ${namesText(taken)}, marked on the map${rest}`;
}

/**
 * How many nodes could take it, where the answer tells that: of one node. Of several members it names only those that
 * would be taken, so that is what is said.
 */
export function roomText({ instead, taken }: Placed): string {
  const nodes = countOf(taken);
  if (nodes > 1) return `Would take ${countText(nodes, "node")}: ${namesText(taken)}`;
  const all = countOf([...taken, ...instead]);
  return `${countText(all, "node")}${all < CANDIDATES_MAX ? "" : " or more"} could take it`;
}

function countOf(candidates: readonly Candidate[]): number {
  return new Set(candidates.map(({ nodeId }) => nodeId)).size;
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
