/**
 * Which queries an event makes stale. Pure. By group and not by input: most inputs are of one pool anyway, and only
 * what is on the page is asked again.
 */
import type { EventType } from "@berth/client";

/** `group`, or `group.method`. */
export type StaleKey = string;

const BOOKED = ["capacity", "reservations", "pools", "fleet.listNodes", "fleet.getNode"];

const BY_SUBJECT: Readonly<Record<string, readonly StaleKey[]>> = {
  reservation: BOOKED,
  unit: ["fleet", "capacity", "reservations"],
  maintenance: ["fleet", "capacity", "reservations"],
  node: ["fleet", "capacity", "reservations", "unitReservations"],
  unitReservation: ["unitReservations", ...BOOKED],
  pool: ["pools", "capacity", "reservations.quote"],
  tenant: ["fleet.listTenants"],
  site: ["fleet.listSites"],
  key: ["access.listKeys"],
  rollup: ["capacity"],
};

/** Everything that can be seen of a change; a type that is not known yet makes all of it stale. */
export function staleKeysOf(type: EventType | (string & {})): readonly StaleKey[] {
  const [subject = ""] = type.split(".");
  const keys = BY_SUBJECT[subject] ?? [...new Set(Object.values(BY_SUBJECT).flat())];
  // The trail tells of every change.
  return [...keys, "events", "access.audit"];
}

/** The prefix of a query's key. */
export function keyPrefix(key: StaleKey): readonly string[] {
  return ["berth", ...key.split(".")];
}
