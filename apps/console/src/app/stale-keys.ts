/**
 * Which queries an event makes stale. Pure. By method and not by input: most inputs are of one pool anyway, and only
 * what is on the page is asked again.
 */
import type { EventType } from "@berth/client";

/** `group`, or `group.method`. */
export type StaleKey = string;

/** By method, so that what is quick to ask does not wait for what is slow. */
const RESERVATIONS = ["reservations.quote", "reservations.list", "reservations.get"];
const NODES = ["fleet.listNodes", "fleet.getNode"];
const UNIT_RESERVATIONS = ["unitReservations.list", "unitReservations.get"];
const POOLS = ["pools.list", "pools.get"];
const BOOKED = ["capacity", ...RESERVATIONS, ...POOLS, ...NODES];

const BY_SUBJECT: Readonly<Record<string, readonly StaleKey[]>> = {
  reservation: BOOKED,
  unit: ["capacity", ...RESERVATIONS, ...NODES],
  maintenance: ["capacity", ...RESERVATIONS, ...NODES],
  node: ["capacity", ...RESERVATIONS, ...NODES, ...UNIT_RESERVATIONS],
  unitReservation: [...BOOKED, ...UNIT_RESERVATIONS],
  pool: ["capacity", ...POOLS, "reservations.quote"],
  tenant: ["fleet.listTenants"],
  site: ["fleet.listSites"],
  key: ["access.listKeys"],
  rollup: ["capacity"],
};

/** The trail tells of every change. */
const TRAIL = ["events.list", "access.audit"];

/** All that any event makes stale. */
export const ALL_KEYS: readonly StaleKey[] = [
  ...new Set([...Object.values(BY_SUBJECT).flat(), ...TRAIL]),
];

/** Everything that can be seen of a change; a type that is not known yet makes all of it stale. */
export function staleKeysOf(type: EventType | (string & {})): readonly StaleKey[] {
  const [subject = ""] = type.split(".");
  const keys = BY_SUBJECT[subject];
  return keys === undefined ? ALL_KEYS : [...keys, ...TRAIL];
}

/** The prefix of a query's key. */
export function keyPrefix(key: StaleKey): readonly string[] {
  return ["berth", ...key.split(".")];
}
