/**
 * Everything that one gate guards, held so that a rule finds its answer without reading every booking.
 * It has no clock: what time does to a pool (a start, an end, a lease that lapses, maintenance that
 * begins) is a Change like any other, found by `due` and made by the lifecycle rules. So a state is
 * exactly the sum of its changes, and taking the last one back gives the state before it.
 */
import type { GateId, NodeId, ReservationId, TenantId, UnitId } from "../ids.ts";
import { SCALARS, UNIT_CLASSES } from "../model.ts";
import type {
  Node,
  PoolConfig,
  PoolSnapshot,
  Reservation,
  RollupRow,
  Unit,
  UnitClass,
} from "../model.ts";
import type { Profile } from "../profile.ts";
import { invariant } from "../refusal.ts";
import type { Change } from "../turn.ts";
import type { Booking } from "./calendar.ts";
import { Counters } from "./counters.ts";
import { DueQueue, nextOfMaintenance, nextOfReservation } from "./due-queue.ts";
import type { DueItem } from "./due-queue.ts";
import { NodeEntry } from "./node-entry.ts";
import type { Phase } from "./node-entry.ts";
import { Shapes } from "./shape.ts";
import type { ShapeUnit } from "./shape.ts";
import { UsageBook } from "./usage.ts";

/** Rows that another writer changed; ended reservations included. */
export interface StateDelta {
  /** Null when unchanged. */
  readonly config: PoolConfig | null;
  readonly nodes: readonly Node[];
  readonly reservations: readonly Reservation[];
}

export class PoolState {
  readonly gateId: GateId;
  /** For this package's placer and timeline: by node id. */
  readonly entries: NodeEntry[] = [];
  readonly shapes: Shapes = new Shapes();
  #config: PoolConfig | null = null;
  #revision = 0;
  readonly #byNode = new Map<NodeId, NodeEntry>();
  readonly #byUnit = new Map<UnitId, { readonly entry: NodeEntry; readonly unit: number }>();
  readonly #live = new Map<ReservationId, Reservation>();
  readonly #counters = new Counters();
  readonly #usage = new UsageBook();
  readonly #due = new DueQueue();

  private constructor(gateId: GateId) {
    this.gateId = gateId;
  }

  static load(snapshot: PoolSnapshot): PoolState {
    const state = new PoolState(snapshot.gateId);
    state.#config = snapshot.config;
    for (const node of [...snapshot.nodes].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      state.#setNode(node.id, node);
    }
    for (const reservation of snapshot.reservations) {
      state.#setReservation(reservation.id, reservation);
    }
    return state;
  }

  /** Null for the gate of a node that is in no pool. */
  get config(): PoolConfig | null {
    return this.#config;
  }

  get nodeCount(): number {
    return this.entries.length;
  }

  /** Grows with every change: a search that pauses sees whether the state moved meanwhile. */
  get revision(): number {
    return this.#revision;
  }

  /** By id. */
  *nodes(): Generator<Node, void, void> {
    for (const entry of this.entries) yield entry.node;
  }

  node(id: NodeId): Node | undefined {
    return this.#byNode.get(id)?.node;
  }

  unit(id: UnitId): { readonly unit: Unit; readonly node: Node } | undefined {
    const found = this.#byUnit.get(id);
    if (!found) return undefined;
    const { node } = found.entry;
    return { unit: node.units[found.unit] as Unit, node };
  }

  /** Where a unit is: the node's entry and its place there. For this package. */
  place(id: UnitId): { readonly entry: NodeEntry; readonly unit: number } | undefined {
    return this.#byUnit.get(id);
  }

  entry(id: NodeId): NodeEntry | undefined {
    return this.#byNode.get(id);
  }

  /** Live ones only. */
  reservation(id: ReservationId): Reservation | undefined {
    return this.#live.get(id);
  }

  /** Live ones, in no stated order. */
  reservations(): Iterable<Reservation> {
    return this.#live.values();
  }

  /** Live reservations that hold a unit of the node, by id. */
  reservationsOn(nodeId: NodeId): readonly Reservation[] {
    const holders = this.#byNode.get(nodeId)?.calendar.holders() ?? [];
    return [...holders].sort().map((id) => this.#live.get(id) as Reservation);
  }

  /** The unit's live bookings, by start. */
  bookingsOf(unitId: UnitId): readonly Booking[] {
    const found = this.#byUnit.get(unitId);
    return found ? found.entry.calendar.bookingsOf(found.unit) : [];
  }

  apply(change: Change): void {
    if (change.kind === "config") this.#setConfig(change.after);
    else if (change.kind === "node") this.#setNode(idOfNode(change), change.after);
    else this.#setReservation(change.after.id, change.after);
  }

  /** Exact inverse of `apply`: the last change applied is the first taken back. */
  revert(change: Change): void {
    if (change.kind === "config") this.#setConfig(change.before);
    else if (change.kind === "node") this.#setNode(idOfNode(change), change.before);
    else this.#setReservation(change.after.id, change.before);
  }

  /**
   * Takes rows that another writer changed, as one step: what ended or moved lets go before nodes change
   * and before anything else takes hold, so no order of the rows is wrong.
   */
  absorb(delta: StateDelta): void {
    if (delta.config !== null) this.#setConfig(delta.config);
    for (const { id } of delta.reservations) this.#setReservation(id, null);
    for (const node of delta.nodes) this.#setNode(node.id, node);
    for (const row of delta.reservations) this.#setReservation(row.id, row);
  }

  /** By resource name; only resources that the nodes have. */
  rollup(): RollupRow[] {
    return this.#counters.rows();
  }

  /** Charged use over time: units of a class, or a scalar's amount; undefined = none. */
  usage(tenantId: TenantId, resource: string): Profile | undefined {
    return this.#usage.of(tenantId, resource);
  }

  /** When time next does something to this pool; null for never. */
  nextDueAt(): number | null {
    return this.#due.first()?.at ?? null;
  }

  /** The next due item at or before `now`: by time, at one instant ends before starts, then by id. */
  due(now: number): DueItem | null {
    const first = this.#due.first();
    return first && first.at <= now ? first : null;
  }

  #setConfig(config: PoolConfig | null): void {
    this.#revision += 1;
    this.#config = config;
  }

  #setNode(id: NodeId, next: Node | null): void {
    this.#revision += 1;
    const old = this.#byNode.get(id);
    if (!old && !next) return;
    if (old) this.#takeNode(old);
    const at = this.#position(id);
    if (!next) {
      invariant(old?.calendar.size === 0, `node ${id} left its pool while booked`);
      this.#byNode.delete(id);
      this.entries.splice(at, 1);
      return;
    }
    const entry = new NodeEntry(next, this.shapes.acquire(next), old);
    this.#byNode.set(id, entry);
    this.entries.splice(at, old ? 1 : 0, entry);
    next.units.forEach((unit, place) => this.#byUnit.set(unit.id, { entry, unit: place }));
    for (const window of next.maintenance) this.#due.set(nextOfMaintenance(id, window));
    entry.count(this.#counters, 1);
  }

  #takeNode(entry: NodeEntry): void {
    entry.count(this.#counters, -1);
    for (const window of entry.node.maintenance) this.#due.delete(window.id);
    for (const unit of entry.node.units) this.#byUnit.delete(unit.id);
    this.shapes.release(entry.shape);
  }

  #setReservation(id: ReservationId, row: Reservation | null): void {
    this.#revision += 1;
    const old = this.#live.get(id);
    const next = row && isLive(row) ? row : null;
    const part = partThatMoves(old, next);
    if (old && part) this.#move(old, -1, part);
    if (next && part) this.#move(next, 1, part);
    if (next) {
      this.#live.set(id, next);
      this.#due.set(nextOfReservation(next));
    } else if (old) {
      this.#live.delete(id);
      this.#due.delete(id);
    }
  }

  /**
   * Puts a reservation in, or takes it out. As a whole: its units and amounts over time, what is charged
   * for them, and its place in the rollup; or, when it only starts, the last of these alone.
   */
  #move(reservation: Reservation, step: 1 | -1, part: "all" | "phase"): void {
    const { start, end, chargedTenantId: tenantId } = reservation;
    const phase = phaseOf(reservation);
    for (const member of reservation.members) {
      const entry = this.#entryOf(member.nodeId, reservation.id);
      const charged: Partial<Record<UnitClass, number>> = {};
      for (const unitId of member.unitIds) {
        const unit = this.#unitOf(unitId, entry);
        entry.countUnit(this.#counters, { unit, phase }, step);
        if (part === "phase") continue;
        if (step === 1) entry.calendar.insert(unit, { start, end, reservationId: reservation.id });
        else entry.calendar.remove(unit, start, reservation.id);
        const kind = (entry.shape.units[unit] as ShapeUnit).class;
        charged[kind] = (charged[kind] ?? 0) + step;
      }
      for (const resource of UNIT_CLASSES) {
        const amount = charged[resource];
        if (amount) this.#usage.charge({ tenantId, resource }, reservation, amount);
      }
      for (const scalar of SCALARS) {
        const amount = step * member.resources[scalar];
        if (amount === 0) continue;
        entry.useScalar(this.#counters, scalar, (use) => {
          if (part === "all") use.all.add(start, end, amount);
          if (phase === "active") use.active += amount;
          else use.later.add(start, end, amount);
        });
        if (part === "all") this.#usage.charge({ tenantId, resource: scalar }, reservation, amount);
      }
    }
  }

  #entryOf(nodeId: NodeId, holder: ReservationId): NodeEntry {
    const entry = this.#byNode.get(nodeId);
    if (!entry) invariant(false, `${holder} holds ${nodeId}, which is not in ${this.gateId}`);
    return entry;
  }

  #unitOf(unitId: UnitId, entry: NodeEntry): number {
    const found = this.#byUnit.get(unitId);
    if (found?.entry !== entry) invariant(false, `unit ${unitId} is not on ${entry.node.id}`);
    return found.unit;
  }

  #position(id: NodeId): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((this.entries[mid] as NodeEntry).node.id < id) low = mid + 1;
      else high = mid;
    }
    return low;
  }
}

function idOfNode(change: Extract<Change, { kind: "node" }>): NodeId {
  const node = change.after ?? change.before;
  invariant(node, "a node change names no node");
  return node.id;
}

function isLive(reservation: Reservation): boolean {
  const { state } = reservation;
  return state === "scheduled" || state === "active" || state === "preempting";
}

function phaseOf(reservation: Reservation): Phase {
  return reservation.state === "scheduled" ? "reserved" : "active";
}

/** A row that changes neither what it holds nor whether it has started moves nothing. */
function partThatMoves(
  old: Reservation | undefined,
  next: Reservation | null,
): "all" | "phase" | null {
  if (!old || !next) return "all";
  const sameHolding =
    old.members === next.members &&
    old.start === next.start &&
    old.end === next.end &&
    old.chargedTenantId === next.chargedTenantId;
  if (!sameHolding) return "all";
  return phaseOf(old) === phaseOf(next) ? null : "phase";
}
