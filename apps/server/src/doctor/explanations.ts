/** What each of the doctor's checks means to the person who reads a finding, and what to do about it. */
import type { Invariant } from "./query.ts";

export interface Explanation {
  /** What is true of the world when the check finds something. */
  readonly means: string;
  /** Most likely first. */
  readonly causes: readonly string[];
  /** In order. */
  readonly now: readonly string[];
  /** From the root of the repository. */
  readonly runbook: string;
}

const runbook = (invariant: Invariant) =>
  `apps/docs/runbooks/invariant-broken.md#${invariant.toLowerCase()}`;
const HAND = "rows were changed by hand or by a script, with the triggers off";
const BUG = "a bug of Berth: keep a pg_dump and the servers' logs, and report it";

/** Every check has one: the type demands it. */
export const EXPLANATIONS: Readonly<Record<Invariant, Explanation>> = {
  I1: {
    means:
      "Two bookings hold one unit at the same time, or a GPU is booked whole and in parts at once: two tenants may be on one GPU.",
    causes: [
      "the exclusion constraint was dropped or is invalid (see GUARD), so nothing refused the second booking",
      HAND,
      BUG,
    ],
    now: [
      "terminate the later of the two bookings (reservations.terminate) and tell its tenant",
      "look at GUARD in the same report, and put the constraint back before anybody books again",
    ],
    runbook: runbook("I1"),
  },
  I2: {
    means:
      "A tenant holds more than its quota allowed when it booked, or the stored count of what it holds is not what its bookings add up to.",
    causes: ["the stored count was changed, or restored apart from the bookings", HAND, BUG],
    now: [
      "a wrong count: `berth rebuild POOL` corrects it and says what it was",
      "real use over the quota: nothing is taken away; it ends with the bookings, and no new ones are made meanwhile",
    ],
    runbook: runbook("I2"),
  },
  I3: {
    means:
      "Stored capacity of a pool is not what a recount gives: people saw too much or too little free. No booking is decided by these rows.",
    causes: [
      "a server of another version wrote it: finish the upgrade",
      "the rows were restored apart from the bookings",
      BUG,
    ],
    now: [
      "`berth rebuild POOL` corrects it and says what it was",
      "if it comes back within the hour, it is a bug: keep a pg_dump and report it",
    ],
    runbook: runbook("I3"),
  },
  I4: {
    means:
      "A live reservation does not hold what its holder was told: a member is missing, without its units, or has no booking behind it.",
    causes: [HAND, "a restore that left out a table", BUG],
    now: [
      "terminate the reservation (reservations.terminate), and ask its holder to book again",
      "keep the report: which member is missing tells which write went wrong",
    ],
    runbook: runbook("I4"),
  },
  I5: {
    means:
      "An idempotency key and its reservation do not belong together: a retry could be answered with the wrong booking, or book twice.",
    causes: [HAND, "a restore that left out a table", BUG],
    now: [
      "two reservations of one key: ask the tenant which one it uses, and terminate the other",
      "a key without its reservation, or the other way round: no retry will come for an old one; report it",
    ],
    runbook: runbook("I5"),
  },
  I6: {
    means:
      "Something changed without its event, or an event tells otherwise than the tables: watchers and the trail are missing something.",
    causes: [HAND, "events were deleted by something else than the retention of 30 days", BUG],
    now: [
      "tell whoever watches the pool to list again (reservations.list, events.list)",
      "the bookings themselves are what the tables say",
    ],
    runbook: runbook("I6"),
  },
  I7: {
    means:
      "A booking was made on a unit that was not its tenant's to have: ring-fenced, in announced maintenance, or of a pool that it was never given.",
    causes: [
      "a fence, an offer or a maintenance window was changed in the tables instead of through the API",
      BUG,
    ],
    now: [
      "if the unit is needed: terminate the booking, and tell its tenant",
      "if the booking may stay: release the fence (unitReservations.release), or offer the pool to the tenant",
    ],
    runbook: runbook("I7"),
  },
  I8: {
    means:
      "More CPU, memory or huge pages are booked on a node than it has, at some moment from now on.",
    causes: [
      "the node was reported again with less than before, while bookings were on it: a fact, and nobody's mistake",
      HAND,
      BUG,
    ],
    now: [
      "compare the node's figures with the machine; put wrong ones right (fleet.putNodes)",
      "if they are right, move or end bookings of that node until they fit",
    ],
    runbook: runbook("I8"),
  },
  GUARD: {
    means:
      "Something that refuses wrong writes while nobody looks is missing or off: a constraint, a key, a trigger, or the disk's durability.",
    causes: [
      "a restore that was run with --disable-triggers, or stopped half-way",
      "somebody altered the schema, or set fsync off to be faster",
    ],
    now: [
      "stop the servers: until it is back, the next mistake is written",
      "put it back as packages/db/schema.sql has it, set fsync and full_page_writes on, and run `berth doctor` again",
    ],
    runbook: runbook("GUARD"),
  },
};

/** Under the title, for `--explain`. */
export function explain(invariant: Invariant): string {
  const { means, causes, now, runbook: page } = EXPLANATIONS[invariant];
  return [
    `       What it means: ${means}`,
    "       Likely causes, most likely first:",
    ...causes.map((cause) => `         * ${cause}`),
    "       What to do now:",
    ...now.map((step, at) => `         ${at + 1}. ${step}`),
    `       Runbook: ${page}`,
  ].join("\n");
}
