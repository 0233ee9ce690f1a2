/**
 * A pool as a search for room would find it if some bookings held no units and no scalars from an instant on. Only what
 * those had is copied, so the state itself is never without them: whoever searches here may pause, and others
 * go on meanwhile. All else (quota, counts, what is due) is not part of it.
 */
import type { NodeId, ReservationId, UnitId } from "../ids.ts";
import type { Reservation } from "../model.ts";
import { SCALARS } from "../model.ts";
import type { BusyTimes } from "../state/busy-times.ts";
import type { NodeEntry, SeenNode } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { PoolView } from "../state/pool-view.ts";

type Member = Reservation["members"][number];

/** What a booking had on one node. */
interface Held {
  readonly entry: SeenNode;
  readonly member: Member;
  readonly units: readonly number[];
}

/** Of use until the state changes. */
export class WithoutSome implements PoolView {
  readonly entries: SeenNode[];
  readonly roster: PoolView["roster"];
  readonly #state: PoolState;
  readonly #from: number;
  readonly #busy: BusyTimes;
  readonly #own = new Map<NodeId, SeenNode>();
  readonly #away = new Map<ReservationId, readonly Held[]>();

  /** @param from whoever goes holds nothing from this instant on */
  constructor(state: PoolState, from: number) {
    const { roster, entries } = state;
    const anyBusy = roster.anyBusy.copy();
    this.#state = state;
    this.#from = from;
    this.#busy = roster.busy.copy(anyBusy);
    this.entries = [...entries];
    this.roster = {
      anyBusy,
      busy: this.#busy,
      makeOf: roster.makeOf,
      judged: roster.judged,
      rowsOf: () => roster.rowsOf(entries),
      valuesOf: (key) => roster.valuesOf(key, entries),
    };
  }

  get config(): PoolView["config"] {
    return this.#state.config;
  }

  get nodeCount(): number {
    return this.#state.nodeCount;
  }

  get shapes(): PoolView["shapes"] {
    return this.#state.shapes;
  }

  get demand(): PoolView["demand"] {
    return this.#state.demand;
  }

  entry(id: NodeId): SeenNode | undefined {
    return this.#own.get(id) ?? this.#state.entry(id);
  }

  place(id: UnitId): { readonly entry: SeenNode; readonly unit: number } | undefined {
    const found = this.#state.place(id);
    return found && { ...found, entry: this.#own.get(found.entry.node.id) ?? found.entry };
  }

  /** Whoever is over by then stays as it is. It pins nothing: only who preempts does, and no spot booking does. */
  goes(one: Reservation): void {
    if (one.end <= this.#from || this.#away.has(one.id)) return;
    const held = one.members.flatMap((member) => {
      const entry = this.#ownOf(member.nodeId);
      return entry ? [{ entry, member, units: unitsOf(this.#state, entry, { one, member }) }] : [];
    });
    this.#away.set(one.id, held);
    for (const part of held) letGo(part, one, this.#from);
  }

  comesBack(one: Reservation): void {
    for (const part of this.#away.get(one.id) ?? []) takeHold(part, one, this.#from);
    this.#away.delete(one.id);
  }

  #ownOf(id: NodeId): SeenNode | undefined {
    const known = this.#own.get(id);
    const entry = this.#state.entry(id);
    if (known || !entry) return known;
    const own = copyOf(entry, this.#busy);
    this.#own.set(id, own);
    this.entries[this.#state.position(id)] = own;
    return own;
  }
}

/** One node as it would be if these bookings held nothing of it from an instant on. */
export function nodeWithout(
  state: PoolState,
  entry: NodeEntry,
  { gone, from }: { readonly gone: readonly Reservation[]; readonly from: number },
): SeenNode {
  const own = copyOf(entry, null);
  for (const one of gone)
    for (const member of one.members) {
      if (member.nodeId !== entry.node.id || one.end <= from) continue;
      letGo({ entry: own, member, units: unitsOf(state, own, { one, member }) }, one, from);
    }
  return own;
}

function copyOf(entry: NodeEntry, busy: BusyTimes | null): SeenNode {
  const { node, shape, make, usable, faulty, terms } = entry;
  const uses = [...entry.scalarUse].map(([scalar, use]) => {
    return [scalar, { ...use, all: use.all.copy() }] as const;
  });
  const calendar = entry.calendar.copy(busy);
  return { node, shape, make, usable, faulty, terms, calendar, scalarUse: new Map(uses) };
}

/** A lease has its whole node, with what joined it since. */
function unitsOf(
  state: PoolState,
  entry: SeenNode,
  { one, member }: { readonly one: Reservation; readonly member: Member },
): number[] {
  if (one.binding !== "node")
    return member.unitIds.flatMap((unitId) => state.place(unitId)?.unit ?? []);
  const units = [...entry.node.units.keys()];
  return units.filter((unit) => entry.calendar.holdersIn(unit, one).includes(one.id));
}

function letGo(held: Held, one: Reservation, from: number): void {
  const { calendar } = held.entry;
  const { start, id: reservationId } = one;
  for (const unit of held.units) {
    calendar.remove(unit, start, reservationId);
    if (start < from) calendar.insert(unit, { start, end: from, reservationId });
  }
  useScalars(held, one, { from, step: -1 });
}

function takeHold(held: Held, one: Reservation, from: number): void {
  const { calendar } = held.entry;
  const { start, end, id: reservationId } = one;
  for (const unit of held.units) {
    if (start < from) calendar.remove(unit, start, reservationId);
    calendar.insert(unit, { start, end, reservationId });
  }
  useScalars(held, one, { from, step: 1 });
}

function useScalars(
  { entry, member }: Held,
  { start, end }: Reservation,
  { from, step }: { readonly from: number; readonly step: 1 | -1 },
): void {
  for (const scalar of SCALARS)
    entry.scalarUse
      .get(scalar)
      ?.all.add(Math.max(start, from), end, step * member.resources[scalar]);
}
