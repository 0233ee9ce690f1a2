/**
 * What the doctor stands on: plain SQL and the rows as they are. It shares no rule with the engine or the
 * domain on purpose, so that a mistake made there is not made again here.
 */

/** One statement; numbers must be cast to float8 or int4 in the text, times fit both. */
export type Query = <T>(
  text: string,
  parameters?: readonly (number | string)[],
) => Promise<readonly T[]>;

export type Invariant = "I1" | "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8" | "GUARD";

export interface Violation {
  readonly invariant: Invariant;
  /** What it is about: pools, reservations, units, nodes, tenants. */
  readonly ids: readonly string[];
  readonly message: string;
}

export interface Check {
  readonly invariant: Invariant;
  /** What holds when nothing is found. */
  readonly title: string;
  run(query: Query): Promise<readonly Violation[]>;
}

/** The states in which a reservation holds its units, as SQL. */
export const LIVE = "('scheduled', 'active', 'preempting')";

const SHOWN_AT = new Intl.DateTimeFormat("sv-SE", {
  dateStyle: "short",
  timeStyle: "medium",
  timeZone: "UTC",
});

/** An instant as people read it, in UTC. */
export function instant(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8e15 ? `${SHOWN_AT.format(at)}Z` : String(at);
}
