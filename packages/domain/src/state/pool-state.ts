/**
 * Everything that one gate guards, held so that a rule finds its answer without reading every booking.
 * It has no clock: what time does to a pool (a start, an end, a lease that lapses, maintenance that
 * begins) is a Change like any other, found by `due` and made by the lifecycle rules. So a state is
 * exactly the sum of its changes, and taking the last one back gives the state before it.
 */
import type { GateId, NodeId, ReservationId, TenantId, UnitId, UnitReservationId } from "../ids.ts";
import type { UnitReservation, Waiter } from "../claims.ts";
import type { Node, PoolConfig, PoolSnapshot, Reservation, RollupRow, Unit } from "../model.ts";
import { gpusAreIdle } from "../fleet/settle.ts";
import { isOutdated, isShared } from "../fleet/units.ts";
import { isLive } from "../lifecycle.ts";
import type { Profile } from "../profile.ts";
import { invariant } from "../refusal.ts";
import type { Change } from "../turn.ts";
import type { Booking } from "./calendar.ts";
import { Counters } from "./counters.ts";
import type { Weighed } from "./demand-mix.ts";
import {
  DueQueue,
  deadlineOf,
  keyOfDue,
  nextOfMaintenance,
  nextOfReservation,
  nextOfUnitReservation,
} from "./due-queue.ts";
import type { DueItem } from "./due-queue.ts";
import { type Books, moveHoldings, partThatMoves } from "./holdings.ts";
import { Marked } from "./marked.ts";
import { NodeEntry } from "./node-entry.ts";
import { PendingLayouts } from "./pending-layouts.ts";
import { PoolDemand, type UnitAsk } from "./pool-demand.ts";
import { RingFences } from "./ring-fences.ts";
import { Roster } from "./roster.ts";
import { Shapes } from "./shape.ts";
import { Touches } from "./touches.ts";
import { UsageBook } from "./usage.ts";
import { WaitingLine } from "./waiting-line.ts";

/** Rows that another writer changed; those that ended included. */
export interface StateDelta {
  /** Null when unchanged. */
  readonly config: PoolConfig | null;
  readonly nodes: readonly Node[];
  readonly reservations: readonly Reservation[];
  readonly unitReservations: readonly UnitReservation[];
  /** Null: it waits no more. */
  readonly waiters: readonly { readonly id: ReservationId; readonly waiter: Waiter | null }[];
}

export class PoolState {
  readonly gateId: GateId;
  /** For this package's placer and timeline: by node id. */
  readonly entries: NodeEntry[] = [];
  readonly shapes: Shapes = new Shapes();
  readonly roster: Roster = new Roster();
  #config: PoolConfig | null = null;
  #revision = 0;
  readonly #byNode = new Map<NodeId, NodeEntry>();
  readonly #byUnit = new Map<UnitId, { readonly entry: NodeEntry; readonly unit: number }>();
  readonly #live = new Map<ReservationId, Reservation>();
  readonly #counters = new Counters();
  readonly #usage = new UsageBook();
  readonly #due = new DueQueue();
  readonly #ringFences = new RingFences();
  readonly #line = new WaitingLine();
  readonly #marked = new Marked();
  readonly #layouts = new PendingLayouts();
  readonly #demand = new PoolDemand();
  readonly #touches = new Touches();
  readonly #books: Books;

  private constructor(gateId: GateId) {
    this.gateId = gateId;
    this.#books = {
      counters: this.#counters,
      usage: this.#usage,
      entry: (id) => this.#byNode.get(id),
      place: (id) => this.#byUnit.get(id),
    };
  }

  static load(snapshot: PoolSnapshot): PoolState {
    const state = new PoolState(snapshot.gateId);
    state.#config = snapshot.config;
    for (const node of [...snapshot.nodes].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      state.#setNode(node.id, node);
    }
    for (const row of snapshot.reservations) state.#setReservation(row.id, row);
    for (const row of snapshot.unitReservations) state.#setUnitReservation(row.id, row);
    for (const waiter of snapshot.waiters) state.#setWaiter(waiter.id, waiter);
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

  /** Where the node is among the entries, or belongs. */
  position(id: NodeId): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((this.entries[mid] as NodeEntry).node.id < id) low = mid + 1;
      else high = mid;
    }
    return low;
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

  /** Standing ones, in no stated order. */
  unitReservations(): Iterable<UnitReservation> {
    return this.#ringFences.all();
  }

  /** Undefined when it stands no more. */
  unitReservation(id: UnitReservationId): UnitReservation | undefined {
    return this.#ringFences.get(id);
  }

  /** Standing ones of the node, by id. */
  unitReservationsOn(nodeId: NodeId): readonly UnitReservation[] {
    return [...this.#ringFences.on(nodeId)].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Who waits for room, in the order in which they are served. */
  get waiting(): Pick<WaitingLine, "all" | "countOf" | "get" | "size"> {
    return this.#line;
  }

  /** What the pool is asked for, by its bookings and those who wait. For this package's placer. */
  get demand(): readonly Weighed<UnitAsk>[] {
    return this.#demand.mix.weighed();
  }

  /** Degraded reservations that have not begun, by start, then id. */
  degraded(): readonly Reservation[] {
    return this.#marked.degraded();
  }

  /** Live spot reservations that are not under notice, in no stated order. */
  preemptible(): ReadonlyMap<ReservationId, Reservation> {
    return this.#marked.preemptible();
  }

  get degradedCount(): number {
    return this.#marked.degradedCount;
  }

  /** How many of these were flagged in a turn that had no time left to look for room. */
  get untriedCount(): number {
    return this.#marked.untriedCount;
  }

  /** Live reservations under notice for the sake of this one, by id. */
  victimsOf(id: ReservationId): readonly Reservation[] {
    return this.#marked.victimsOf(id);
  }

  /** Nodes whose GPUs are idle and not yet cut as the pool's policy says, by id. */
  pendingLayouts(): readonly NodeId[] {
    return this.#layouts.those((id) => {
      const node = this.node(id);
      return node !== undefined && gpusAreIdle(this, node) && isOutdated(node, this.#config);
    });
  }

  apply(change: Change): void {
    this.#set(change, change.after);
  }

  /** Exact inverse of `apply`: the last change applied is the first taken back. */
  revert(change: Change): void {
    this.#set(change, change.before);
  }

  /** What `work` finds at a state with this change, which is taken back. */
  probe<T>(change: Change, work: () => T): T {
    return this.#touches.unseen(() => {
      this.apply(change);
      try {
        return work();
      } finally {
        this.revert(change);
      }
    });
  }

  /** What `work` finds that takes back whatever it changes: no node counts as touched by it. */
  unseen<T>(work: () => T): T {
    return this.#touches.unseen(work);
  }

  /** Nodes on which something fits, maybe, that did not at this revision. */
  touchedSince(revision: number): ReadonlySet<NodeId> {
    return this.#touches.since(revision);
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
    for (const row of delta.unitReservations) this.#setUnitReservation(row.id, row);
    for (const { id, waiter } of delta.waiters) this.#setWaiter(id, waiter);
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

  #set(change: Change, row: Change["after"]): void {
    const { id } = (change.after ?? change.before) as { readonly id: string };
    switch (change.kind) {
      case "config":
        return this.#setConfig(row as PoolConfig | null);
      case "node":
        return this.#setNode(id as NodeId, row as Node | null);
      case "reservation":
        return this.#setReservation(id as ReservationId, row as Reservation | null);
      case "unitReservation":
        return this.#setUnitReservation(id as UnitReservationId, row as UnitReservation | null);
      case "waiter":
        return this.#setWaiter(id as ReservationId, row as Waiter | null);
    }
  }

  #setConfig(config: PoolConfig | null): void {
    this.#revision += 1;
    this.#config = config;
    if (isShared(config)) for (const { node } of this.entries) this.#layouts.suspect(node.id);
  }

  #setNode(id: NodeId, next: Node | null): void {
    this.#revision += 1;
    const old = this.#byNode.get(id);
    if (!old && !next) return;
    this.#touch(id);
    if (old) this.#takeNode(old);
    const at = this.position(id);
    if (!next) {
      invariant(old?.calendar.size === 0, `node ${id} left its pool while booked`);
      old.calendar.close();
      this.roster.reorder();
      this.#byNode.delete(id);
      this.entries.splice(at, 1);
      return;
    }
    const entry = new NodeEntry(next, {
      shape: this.shapes.acquire(next),
      roster: this.roster,
      old,
    });
    if (old && old.calendar !== entry.calendar) old.calendar.close();
    entry.setTerms(this.#ringFences.on(id));
    this.roster.set(entry);
    if (old?.calendar !== entry.calendar) this.roster.reorder();
    this.#byNode.set(id, entry);
    this.entries.splice(at, old ? 1 : 0, entry);
    next.units.forEach((unit, place) => this.#byUnit.set(unit.id, { entry, unit: place }));
    for (const window of next.maintenance) this.#due.set(nextOfMaintenance(id, window));
    entry.count(this.#counters, 1);
    if (isShared(this.#config)) this.#layouts.suspect(id);
  }

  #takeNode(entry: NodeEntry): void {
    entry.count(this.#counters, -1);
    for (const window of entry.node.maintenance) this.#due.delete(window.id);
    for (const unit of entry.node.units) this.#byUnit.delete(unit.id);
    this.shapes.release(entry.shape);
    this.roster.makes.release(entry.make);
  }

  #setReservation(id: ReservationId, row: Reservation | null): void {
    this.#revision += 1;
    const old = this.#live.get(id);
    const next = row && isLive(row.state) ? row : null;
    const part = partThatMoves(old, next);
    if (old && part) moveHoldings(this.#books, old, { step: -1, part });
    if (old && part === "all")
      for (const { nodeId } of [...old.members, ...old.pins]) this.#touch(nodeId);
    if (old && isShared(this.#config))
      for (const { nodeId } of old.members) this.#layouts.suspect(nodeId);
    if (next && part) moveHoldings(this.#books, next, { step: 1, part });
    this.#marked.set(old, next);
    this.#demand.set(old ?? null, next);
    if (next) {
      this.#live.set(id, next);
      this.#due.set(nextOfReservation(next));
    } else if (old) {
      this.#live.delete(id);
      this.#due.delete(id);
    }
  }

  #setUnitReservation(id: UnitReservationId, row: UnitReservation | null): void {
    this.#revision += 1;
    this.#due.delete(id);
    const nodeId = this.#ringFences.set(id, row);
    if (nodeId === null) return;
    this.#touch(nodeId);
    const entry = this.#byNode.get(nodeId);
    entry?.setTerms(this.#ringFences.on(nodeId));
    if (entry) this.roster.set(entry);
    const standing = this.#ringFences.get(id);
    const next = standing && nextOfUnitReservation(standing);
    if (next) this.#due.set(next);
  }

  #setWaiter(id: ReservationId, waiter: Waiter | null): void {
    this.#revision += 1;
    const old = this.#line.get(id);
    if (old) this.#due.delete(keyOfDue(deadlineOf(old)));
    this.#line.set(id, waiter);
    this.#demand.set(old?.ask ?? null, waiter?.ask ?? null);
    if (waiter) this.#due.set(deadlineOf(waiter));
  }

  #touch(nodeId: NodeId): void {
    this.#touches.add(nodeId, { revision: this.#revision, nodes: this.entries.length });
  }
}
