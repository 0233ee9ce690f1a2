/**
 * Some reservations out of the placer's sight: for the time of a look they hold no units and no scalars from an
 * instant on. All else (quota, counts, what is due, what is live) stays as it is, so thousands leave and
 * come back within milliseconds, and no reader of the state has to begin anew.
 */
import type { ReservationId } from "../ids.ts";
import type { Reservation } from "../model.ts";
import { SCALARS } from "../model.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Absent } from "./victims.ts";

interface Held {
  readonly entry: NodeEntry;
  readonly unit: number;
}

/** What `look` finds while they are out of sight. They pin nothing: only who preempts does, and no spot booking does. */
export function outOfSight<T>(
  state: PoolState,
  { gone, from }: { readonly gone: readonly Reservation[]; readonly from: number },
  look: (absent: Absent) => T,
): T {
  const away = new Map<ReservationId, readonly Held[]>();
  const absent: Absent = {
    goes(one) {
      if (one.end <= from || away.has(one.id)) return;
      const held = heldBy(state, one);
      away.set(one.id, held);
      cut(held, one, { to: from, was: one.end });
      useScalars(state, one, { from, step: -1 });
    },
    comesBack(one) {
      const held = away.get(one.id);
      if (!held) return;
      away.delete(one.id);
      cut(held, one, { to: one.end, was: from });
      useScalars(state, one, { from, step: 1 });
    },
  };
  try {
    for (const one of gone) absent.goes(one);
    return look(absent);
  } finally {
    for (const one of gone) absent.comesBack(one);
  }
}

/** A lease has its whole node, with what joined it since. */
function heldBy(state: PoolState, { id, binding, members, ...window }: Reservation): Held[] {
  return members.flatMap(({ nodeId, unitIds }) => {
    const entry = state.entry(nodeId);
    if (!entry) return [];
    if (binding !== "node")
      return unitIds.flatMap((unitId) => {
        const found = state.place(unitId);
        return found ? [{ entry, unit: found.unit }] : [];
      });
    return entry.node.units
      .map((_, unit) => ({ entry, unit }))
      .filter(({ unit }) => entry.calendar.holdersIn(unit, window).includes(id));
  });
}

/** Gives its bookings another end; one that would end before it begins is none. */
function cut(
  held: readonly Held[],
  { id: reservationId, start }: Reservation,
  { to, was }: { readonly to: number; readonly was: number },
): void {
  for (const { entry, unit } of held) {
    if (start < was) entry.calendar.remove(unit, start, reservationId);
    if (start < to) entry.calendar.insert(unit, { start, end: to, reservationId });
  }
}

function useScalars(
  state: PoolState,
  { members, start, end }: Reservation,
  { from, step }: { readonly from: number; readonly step: 1 | -1 },
): void {
  for (const { nodeId, resources } of members)
    for (const scalar of SCALARS) {
      const use = state.entry(nodeId)?.scalarUse.get(scalar)?.all;
      use?.add(Math.max(start, from), end, step * resources[scalar]);
    }
}
