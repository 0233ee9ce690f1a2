/**
 * Rules that no JSON Schema can state: how fields go together, and with what is there. An input that the
 * document's schema allows is INVALID_INPUT by one of these and by nothing else, and the document says each of
 * them in words.
 */
import type { WireError } from "./caller.ts";

export interface Rule {
  /** Methods, by how their names begin. */
  readonly of: readonly string[];
  /** What the issue says. */
  readonly issue: RegExp;
  /** The document's words. */
  readonly said: string;
}

const BOOKING = ["capacity.preview", "reservations.create", "reservations.quote"];
const UNITS = ["unitReservations."];
const POLICY = ["pools.create", "pools.update"];

export const RULES: readonly Rule[] = [
  { of: [""], issue: /^must be in Unicode form NFC$/, said: "Text is in Unicode form NFC" },
  {
    of: [""],
    issue: /^is not (?:a cursor of this list|an event cursor)/,
    said: "`nextCursor` of the page before",
  },
  { of: [""], issue: /^must be after `?from`?$/, said: "End, exclusive; after `from`" },
  {
    of: BOOKING,
    issue: /goes with binding "node" only$/,
    said: "goes with `binding: node` and no other",
  },
  {
    of: BOOKING,
    issue: /^binding "node" leases whole nodes/,
    said: "`binding: node`, and only then",
  },
  { of: BOOKING, issue: /^is needed with binding "node"$/, said: "and a `node` set-up" },
  { of: BOOKING, issue: /"node" stands alone/, said: "`node` stands alone" },
  { of: BOOKING, issue: /^is 1 with a gang/, said: "in a gang 1, a node a member" },
  {
    of: BOOKING,
    issue: /^(?:must )?name as many units as/,
    said: "`count` says how many they are",
  },
  { of: BOOKING, issue: /^a unit can be named only once$/, said: "These very units, each once" },
  {
    of: BOOKING,
    issue: /^cannot be named (?:for a gang|with class node)/,
    said: "Not for gangs, nor for whole nodes",
  },
  { of: BOOKING, issue: /^a reservation has at most 4096 units/, said: "at most 4,096 units" },
  {
    of: BOOKING,
    issue: /^the pool's sharing mode is/,
    said: "another than the pool's is INVALID_INPUT",
  },
  {
    of: BOOKING,
    issue: /^the start is over a minute in the past/,
    said: "At most 60 s in the past",
  },
  {
    of: BOOKING,
    issue: /^the pool takes bookings at most/,
    said: "at most the pool's horizon ahead",
  },
  {
    of: [...BOOKING, ...POLICY],
    issue: /^(?:the duration is|a booking of this pool lasts|the booking would end)/,
    said: "up to the pool's `maxDuration`",
  },
  {
    of: [...BOOKING, ...POLICY],
    issue: /^(?:(?:the|a) duration is )?(?:too short|at least 1)/,
    said: "A length of time of at least 1 s",
  },
  { of: ["reservations.extend"], issue: /end/, said: "not before the present one" },
  {
    of: ["reservations.extend"],
    issue: /^a booking of this pool lasts/,
    said: "the pool's longest booking",
  },
  {
    of: ["capacity.timeline"],
    issue: /^a timeline (?:spans at most 7 days|has at most)/,
    said: "one of over 7 days and one of over 336 buckets are INVALID_INPUT",
  },
  { of: UNITS, issue: /^must be a day of the calendar/, said: "their times are RFC 3339 texts" },
  {
    of: UNITS,
    issue: /^(?:is over a minute in the past|must be before 2\^47)/,
    said: "When the term begins",
  },
  { of: UNITS, issue: /^must be after startsAt/, said: "When the term ends" },
  { of: UNITS, issue: /^there is no org/, said: "an org that does not exist" },
  {
    of: UNITS,
    issue: /^unit \S+ (?:is not on node|is a|has no VFIO|is no longer)/,
    said: "a whole GPU of the node with a VFIO group",
  },
  {
    of: UNITS,
    issue: /^unit \S+ is not one of this unit reservation/,
    said: "Units of the reservation",
  },
  { of: ["pools.update"], issue: /^give policy, gpuModel/, said: "neither is INVALID_INPUT" },
  {
    of: ["pools.unoffer"],
    issue: /^a pool cannot be taken from its owner/,
    said: "The owner cannot be unoffered (INVALID_INPUT)",
  },
  {
    of: ["pools.offer", "fleet.putTenant"],
    issue: /^there is no such tenant/,
    said: "A tenant that does not exist is INVALID_INPUT",
  },
  { of: ["pools.offer"], issue: /^a tenant has at most/, said: "Rows to create or resize" },
  {
    of: ["pools.create"],
    issue: /provider/,
    said: "the other classes take no provider account: else INVALID_INPUT",
  },
  { of: POLICY, issue: /./, said: "The policy is checked part by part" },
  { of: ["fleet.putTenant"], issue: /./, said: "one that would close a circle, is INVALID_INPUT" },
  {
    of: ["fleet.putNodes"],
    issue: /^names a node twice|^node .*(?:twice|same)|listed twice|this start twice/,
    said: "Its name, unique on the site",
  },
  { of: ["fleet.putNodes"], issue: /^have \d+ devices/, said: "at most 20,000 devices" },
  {
    of: ["fleet.putNodes"],
    issue: /^node .*: live bookings take/,
    said: "less of a scalar than live bookings take",
  },
  {
    of: ["fleet.putNodes"],
    issue: /would end at slice/,
    said: "Memory slices that an instance may begin at",
  },
  {
    of: ["fleet.putNodes"],
    issue: /^node /,
    said: "All reports are checked before any is written",
  },
  {
    of: ["fleet.putNodes", "fleet.assignNode"],
    issue: /is on another site than the pool/,
    said: "a pool of the same site",
  },
  { of: ["fleet.scheduleMaintenance"], issue: /^must not be in the past/, said: "not in the past" },
  { of: ["access.createKey"], issue: /^is over already/, said: "From then on it is refused" },
];

/** Whether each of these issues is told by a rule of the method. */
export function byRules(method: string, issues: NonNullable<WireError["issues"]>): boolean {
  return issues.every(({ message }) =>
    RULES.some(
      ({ of, issue }) => of.some((start) => method.startsWith(start)) && issue.test(message),
    ),
  );
}
