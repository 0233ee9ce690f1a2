/** What an event says of a reservation, and which of them may follow which. */
import { type ReservationRow, isLive } from "./rows.ts";
import type { Json } from "./types.ts";

export interface Facts {
  readonly state: string;
  readonly start: number;
  readonly end: number;
  readonly leaseExpiresAt: number | null;
  readonly endedAt: number | null;
  readonly version: number;
}

const amount = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** Of an event, and of a reservation as it is answered: both name these alike. */
export function factsOfEvent(data: Json): Facts {
  return {
    state: String(data["state"]),
    start: Number(data["start"]),
    end: Number(data["end"]),
    leaseExpiresAt: amount(data["leaseExpiresAt"]),
    endedAt: amount(data["endedAt"]),
    version: Number(data["version"]),
  };
}

export function factsOfRow(row: ReservationRow): Facts {
  const { state, start, end, version } = row;
  return {
    state,
    start,
    end,
    version,
    leaseExpiresAt: row.lease_expires_at,
    endedAt: row.ended_at,
  };
}

/** @returns the first that differs, or null */
export function sameFacts(a: Facts, b: Facts): keyof Facts | null {
  const names = ["version", "state", "start", "end", "endedAt", "leaseExpiresAt"] as const;
  return names.find((name) => a[name] !== b[name]) ?? null;
}

/** From which states, and to which. */
const STEPS: Readonly<Record<string, readonly [from: readonly string[], to: readonly string[]]>> = {
  activated: [
    ["scheduled", "preempting"],
    ["active", "preempting"],
  ],
  renewed: [
    ["active", "preempting"],
    ["active", "preempting"],
  ],
  extended: [
    ["scheduled", "active"],
    ["scheduled", "active"],
  ],
  preempting: [["scheduled", "active"], ["preempting"]],
  preempted: [["scheduled", "active", "preempting"], ["preempted"]],
  reprieved: [["preempting"], ["scheduled", "active"]],
  healed: [
    ["scheduled", "active", "preempting"],
    ["scheduled", "active", "preempting"],
  ],
  degraded: [
    ["scheduled", "active", "preempting"],
    ["scheduled", "active", "preempting"],
  ],
  endingSoon: [
    ["scheduled", "active"],
    ["scheduled", "active"],
  ],
  completed: [["active"], ["completed"]],
  released: [["scheduled", "active", "preempting"], ["released"]],
  expired: [["active", "preempting"], ["expired"]],
  terminated: [["scheduled", "active", "preempting"], ["terminated"]],
};
/** These may change nothing that a version counts: a degraded one that begins is told of again. */
const TELLS_ONLY = new Set(["endingSoon", "degraded"]);
const MOVES_NOTHING = new Set(["activated", "endingSoon", "preempting", "reprieved"]);

/** @returns what is wrong with the event after that state, or null */
export function transition(type: string, before: Facts | null, after: Facts): string | null {
  const name = type.slice("reservation.".length);
  if (name === "created") {
    if (before) return "it was there already";
    if (after.version !== 1) return `its first version is ${after.version}`;
    if (!(after.start < after.end)) return "its window is empty";
    return ["scheduled", "active"].includes(after.state) ? null : `it begins as ${after.state}`;
  }
  if (!before) return "it was never created";
  const step = STEPS[name];
  if (!step) return "no such event";
  if (!isLive(before)) return `it was ${before.state}, which is for good`;
  if (!step[0].includes(before.state) || !step[1].includes(after.state))
    return `it goes from ${before.state} to ${after.state}`;
  if (!MOVES_NOTHING.has(name) && isLive(after) && before.state !== after.state)
    return `it goes from ${before.state} to ${after.state}`;
  if (TELLS_ONLY.has(name) && sameFacts(before, after) === null) return null;
  if (name !== "endingSoon" && after.version === before.version + 1) return null;
  return `version ${before.version} becomes ${after.version}`;
}
