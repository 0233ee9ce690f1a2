/** "Free" is said of two things; each has words of its own, and every page uses these. */

/** Of a moment: nobody has it booked then, though somebody may later. What the map and the racks count. */
export type Moment = "now" | "then";

/** Of a capacity row's `available`: neither booked now nor later, as far as anybody has booked. */
export const UNBOOKED = "free now and later";

/** Of a capacity row's `reserved`: it counts what is kept for others, too. */
export const RESERVED = "booked later or set aside";

/** What `UNBOOKED` leaves out, for a row of numbers that may not add up. */
export const BOTH_HINT =
  "Free now and later: booked by nobody at any time. What is booked now and again later counts under both.";

/** As the head of a column. */
export function headOf(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** `3 of 8 free now`, `2 of 3 parts free then`. */
export function freeAt(
  { all, free, noun }: { readonly all: number; readonly free: number; readonly noun: string },
  moment: Moment,
): string {
  return `${free} of ${all} ${noun === "" ? "" : `${noun} `}free ${moment}`;
}
