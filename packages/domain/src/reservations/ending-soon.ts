/** When a tenant is told that its booking is about to end. */

const LEAD_MAX_MS = 30 * 60_000;

/** Half an hour before the end, or a tenth of the booking's length before it, whichever is later. */
export function endingSoonAt(start: number, end: number): number {
  return end - Math.min(LEAD_MAX_MS, Math.floor((end - start) / 10));
}
