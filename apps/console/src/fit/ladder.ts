/**
 * The fit ladder's cells: so many GPUs, kept so close, as shapes of one quote. Pure. A cell is what
 * `reservations.quote` answers for its shape, so it says what booking it would say.
 */
import { gpus } from "@berth/client";
import type { BookingShape, CapacityRow, QuotedShape } from "@berth/client";

export const COUNTS = [1, 8, 16, 32, 64] as const;
export const PLACES = ["node", "nvlink", "rack"] as const;
export type Place = (typeof PLACES)[number];

export const PLACE_NAMES: Readonly<Record<Place, string>> = {
  node: "One node",
  nvlink: "One NVLink domain",
  rack: "One rack",
};

/** A cell before it is answered: its shape, or why there is none. */
export interface Step {
  readonly count: number;
  readonly place: Place;
  readonly shape: BookingShape | null;
  /** Why it can never be, or the shape in words. */
  readonly words: string;
}

/** GPUs of one node, as far as the pool's counts tell; 8 where they do not. */
export function gpusPerNode(rows: readonly Pick<CapacityRow, "resource" | "total">[]): number {
  const totalOf = (resource: string): number =>
    rows.find((row) => row.resource === resource)?.total ?? 0;
  const [all, nodes] = [totalOf("gpu"), totalOf("node")];
  if (all === 0 || nodes === 0) return 8;
  return Math.min(64, Math.max(1, Math.ceil(all / nodes)));
}

/** Every cell, by place and then by count. */
export function ladderSteps(perNode: number): Step[] {
  return PLACES.flatMap((place) => COUNTS.map((count) => stepOf(count, place, perNode)));
}

function stepOf(count: number, place: Place, perNode: number): Step {
  try {
    const { words, ...shape } = gpus(count, { together: place, perNode });
    return { count, place, shape: { topology: "any", ...shape }, words };
  } catch (error) {
    const isTooMany = place !== "rack" && count > perNode;
    const words = isTooMany
      ? `A node of this pool has ${perNode} GPUs`
      : error instanceof Error
        ? error.message
        : "cannot be asked for";
    return { count, place, shape: null, words };
  }
}

export type Verdict =
  /** It fits now, within the quota. */
  | { readonly kind: "now" }
  /** It fits at this instant, within the quota. */
  | { readonly kind: "later"; readonly at: number }
  /** Now, when spot bookings make way. */
  | { readonly kind: "preempts"; readonly at: number; readonly count: number }
  /** There is room, or will be, but not within the quota. */
  | { readonly kind: "quota"; readonly words: string }
  /** Not as far as was looked. */
  | { readonly kind: "never"; readonly searchedTo: number; readonly words: string }
  /** It cannot be asked for. */
  | { readonly kind: "none" };

/** What an answer says in one word. */
export function verdictOf({ preview, quota }: QuotedShape): Verdict {
  if (!quota.ok) {
    const row = quota.rows.find(({ asked, max, peak, remaining }) =>
      remaining === null ? max !== null && (peak ?? 0) + asked > max : asked > remaining,
    );
    const left = row === undefined ? null : (row.remaining ?? (row.max ?? 0) - (row.peak ?? 0));
    const words =
      left === null ? "Over your quota" : `Your quota leaves ${Math.max(0, left)} in this time`;
    return { kind: "quota", words };
  }
  if (preview.fits) return { kind: "now" };
  if (preview.preemptible)
    return {
      kind: "preempts",
      at: preview.preemptible.startsAt,
      count: preview.preemptible.count,
    };
  if (preview.earliestStart !== null) return { kind: "later", at: preview.earliestStart };
  return {
    kind: "never",
    searchedTo: preview.searchedTo,
    words: preview.reason?.message ?? "It does not fit",
  };
}
