/** What can be done with a reservation in each state: the one table that answers it. */
import type { Reservation, ReservationState } from "@berth/client";
import { type Io, say } from "./io.ts";

type Verb = "show" | "watch" | "renew" | "extend" | "release";

const CAN: Readonly<Record<ReservationState, readonly Verb[]>> = {
  scheduled: ["show", "watch", "extend", "release"],
  active: ["show", "watch", "renew", "extend", "release"],
  preempting: ["show", "watch", "renew", "release"],
  completed: ["show"],
  released: ["show"],
  expired: ["show"],
  preempted: ["show"],
  terminated: ["show"],
};

const LINES: Readonly<Record<Verb, (id: string) => string>> = {
  show: (id) => `berth show ${id}`,
  watch: (id) => `berth watch ${id}`,
  renew: (id) => `berth renew ${id}`,
  extend: (id) => `berth extend ${id} --until "+2h"`,
  release: (id) => `berth release ${id}`,
};

/** A state of a later server can be looked at. */
export function can({
  state,
  leaseSeconds,
}: Pick<Reservation, "state" | "leaseSeconds">): readonly Verb[] {
  const verbs: readonly Verb[] = Object.hasOwn(CAN, state)
    ? CAN[state as ReservationState]
    : ["show"];
  return verbs.filter((verb) => verb !== "renew" || leaseSeconds !== null);
}

/** The commands that come next, on standard error. */
export function sayNext(io: Io, reservation: Reservation): void {
  say(io, "next:");
  for (const verb of can(reservation)) say(io, `  ${LINES[verb](reservation.id)}`);
}
