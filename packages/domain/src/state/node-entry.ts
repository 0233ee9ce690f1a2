/** One node as the state keeps it: its bookings, what of it is fit for use, and its part of the rollup. */
import type { ReservationId, UnitId } from "../ids.ts";
import { SCALARS } from "../model.ts";
import type { UnitReservation } from "../claims.ts";
import type { Node, Scalar } from "../model.ts";
import { Profile } from "../profile.ts";
import { invariant } from "../refusal.ts";
import { bucketOfNode, bucketOfUnit, isFaulty } from "../rollup/buckets.ts";
import type { Bucket } from "../rollup/buckets.ts";
import { type Booking, Calendar } from "./calendar.ts";
import type { Counters } from "./counters.ts";
import { makeKey } from "./make.ts";
import type { Make } from "./make.ts";
import type { Roster } from "./roster.ts";
import type { Shape } from "./shape.ts";

/** A started booking is `active`, one that starts later is `reserved`. */
export type Phase = "active" | "reserved";

/** How much of one scalar is in use. */
export interface ScalarUse {
  /** By every live booking, over time. */
  readonly all: Profile;
  /** By those that start later. */
  readonly later: Profile;
  /** By those that have started. */
  active: number;
}

/** A window for which a unit reservation speaks for a unit. */
export interface Term {
  readonly start: number;
  /** Infinity when it is open. */
  readonly end: number;
  readonly reservation: UnitReservation;
}

/** What the placer looks at: a node, or one as it would be if some bookings were not there. */
export type SeenNode = Pick<
  NodeEntry,
  "node" | "shape" | "make" | "calendar" | "usable" | "faulty" | "scalarUse" | "terms"
>;

/** Most nodes have none: one empty map is enough for all of these. */
const NO_USE: ReadonlyMap<Scalar, ScalarUse> = new Map();
const NO_LEASES = new Map<ReservationId, Booking>();

export class NodeEntry {
  readonly node: Node;
  readonly shape: Shape;
  readonly make: Make;
  readonly calendar: Calendar;
  /** 1 for a unit that is healthy and still reported, by its place in the node's list: one list a make. */
  readonly usable: Uint8Array;
  readonly faulty: number;
  /** Live bookings of each unit, by phase. */
  readonly bookings: Readonly<Record<Phase, number[]>>;
  /** Live leases of the whole node, by phase. */
  readonly leases: Record<Phase, number>;
  /** When each of them has the node. */
  #leased: Map<ReservationId, Booking>;
  /** Only scalars that were ever booked here. */
  scalarUse: ReadonlyMap<Scalar, ScalarUse>;
  /** By unit: the unit reservations that speak for it, by start; null when the node has none. */
  terms: readonly (readonly Term[])[] | null = null;
  readonly #bucket: Bucket;
  readonly #unitBuckets: readonly Bucket[];

  /** @param of with `old`: the same node before this change, whose bookings stay */
  constructor(
    node: Node,
    of: { readonly shape: Shape; readonly roster: Roster; readonly old: NodeEntry | undefined },
  ) {
    const { shape, roster, old } = of;
    this.node = node;
    this.shape = shape;
    const usable = Uint8Array.from(node.units, (unit) => (isFaulty(node, unit) ? 0 : 1));
    this.make = roster.makes.acquire(makeKey(node, shape, usable), usable);
    this.usable = this.make.usable;
    this.faulty = node.units.length - usable.reduce((sum, one) => sum + one, 0);
    this.#bucket = bucketOfNode(node);
    this.#unitBuckets = node.units.map((unit) => bucketOfUnit(node, unit));
    this.scalarUse = old?.scalarUse ?? NO_USE;
    this.leases = old?.leases ?? { active: 0, reserved: 0 };
    this.#leased = old ? old.#leased : NO_LEASES;
    if (old && sameUnits(old.node, node)) {
      this.calendar = old.calendar;
      this.bookings = old.bookings;
      return;
    }
    this.calendar = new Calendar(node.units.length, roster.busy);
    this.bookings = { active: node.units.map(() => 0), reserved: node.units.map(() => 0) };
    if (old && old.calendar.size > 0) this.#takeOver(old);
    for (const lease of this.#leased.values()) this.#holdRest(lease);
  }

  /**
   * A lease has the whole node: also a device that joined it since, which is nobody else's until the lease is
   * over. It is not counted, as the lease was not booked with it.
   * Comes after the lease's own units, when it takes hold and when it lets go.
   */
  holdRest(lease: Booking, step: 1 | -1): void {
    const { reservationId, start } = lease;
    if (step === 1) {
      if (this.#leased === NO_LEASES) this.#leased = new Map<ReservationId, Booking>();
      this.#leased.set(reservationId, lease);
      return this.#holdRest(lease);
    }
    this.#leased.delete(reservationId);
    for (let unit = 0; unit < this.node.units.length; unit += 1)
      if (this.calendar.holdersIn(unit, lease).includes(reservationId))
        this.calendar.remove(unit, start, reservationId);
  }

  #holdRest(lease: Booking): void {
    for (let unit = 0; unit < this.node.units.length; unit += 1)
      if (this.calendar.freeOf([unit], lease)[0] === 1) this.calendar.insert(unit, lease);
  }

  /** Moves the counted bookings of one unit. */
  countUnit(counters: Counters, at: { unit: number; phase: Phase }, step: 1 | -1): void {
    const counts = this.bookings[at.phase];
    const before = counts[at.unit] as number;
    counts[at.unit] = before + step;
    if (before > 0 === before + step > 0) return;
    const resource = (this.shape.units[at.unit] as Shape["units"][number]).class;
    const bucket = this.#unitBuckets[at.unit] as Bucket;
    const part = at.phase === "active" ? { allocated: step } : { reserved: step };
    counters.add({ resource, bucket, ...part });
  }

  /** Counts a lease of the whole node. */
  countLease(counters: Counters, phase: Phase, step: 1 | -1): void {
    this.leases[phase] += step;
    const part = phase === "active" ? { allocated: step } : { reserved: step };
    if (this.leases[phase] === (step === 1 ? 1 : 0))
      counters.add({ resource: "node", bucket: this.#bucket, ...part });
  }

  /** The unit reservations that speak for units of this node. */
  setTerms(reservations: Iterable<UnitReservation>): void {
    const terms = new Map<UnitId, Term[]>();
    for (const reservation of reservations) {
      const end = reservation.endsAt ?? Number.POSITIVE_INFINITY;
      for (const id of reservation.unitIds) {
        const list = terms.get(id) ?? [];
        list.push({ start: reservation.startsAt, end, reservation });
        terms.set(id, list);
      }
    }
    if (terms.size === 0) this.terms = null;
    else {
      for (const list of terms.values()) list.sort((a, b) => a.start - b.start);
      this.terms = this.node.units.map(({ id }) => terms.get(id) ?? []);
    }
  }

  /** Changes a scalar's use and what the rollup says of it. */
  useScalar(counters: Counters, scalar: Scalar, change: (use: ScalarUse) => void): void {
    let use = this.scalarUse.get(scalar);
    if (!use) {
      use = { all: new Profile(), later: new Profile(), active: 0 };
      this.scalarUse = new Map([...this.scalarUse, [scalar, use]]);
    }
    this.#countScalar(counters, scalar, -1);
    change(use);
    this.#countScalar(counters, scalar, 1);
  }

  /** Puts the whole node into the rollup, or takes it out. */
  count(counters: Counters, step: 1 | -1): void {
    for (let unit = 0; unit < this.shape.units.length; unit += 1) {
      counters.add({
        resource: (this.shape.units[unit] as Shape["units"][number]).class,
        bucket: this.#unitBuckets[unit] as Bucket,
        total: step,
        allocated: (this.bookings.active[unit] as number) > 0 ? step : 0,
        reserved: (this.bookings.reserved[unit] as number) > 0 ? step : 0,
      });
    }
    counters.add({
      resource: "node",
      bucket: this.#bucket,
      total: step,
      allocated: this.leases.active > 0 ? step : 0,
      reserved: this.leases.reserved > 0 ? step : 0,
    });
    for (const scalar of SCALARS) {
      const total = step * this.node.scalars[scalar];
      counters.add({ resource: scalar, bucket: this.#bucket, total });
      this.#countScalar(counters, scalar, step);
    }
  }

  /** A node that shrank under its bookings never counts more than it has. */
  #countScalar(counters: Counters, resource: Scalar, step: 1 | -1): void {
    const use = this.scalarUse.get(resource);
    if (!use) return;
    const total = this.node.scalars[resource];
    const allocated = step * Math.min(total, use.active);
    const reserved = step * Math.min(total, use.later.peakFrom(Number.NEGATIVE_INFINITY));
    counters.add({ resource, bucket: this.#bucket, allocated, reserved });
  }

  #takeOver(old: NodeEntry): void {
    const places = new Map<UnitId, number>(this.node.units.map((unit, place) => [unit.id, place]));
    old.node.units.forEach((unit, from) => {
      const bookings = old.calendar.bookingsOf(from);
      if (bookings.length === 0) return;
      const to = places.get(unit.id);
      // What only joined a leased node may leave again.
      if (to === undefined && bookings.every(({ reservationId: id }) => this.#leased.has(id))) {
        const counted = (old.bookings.active[from] ?? 0) + (old.bookings.reserved[from] ?? 0);
        if (counted === 0) return;
      }
      invariant(to !== undefined, `unit ${unit.id} left its node while booked`);
      for (const booking of bookings) this.calendar.insert(to, booking);
      this.bookings.active[to] = old.bookings.active[from] as number;
      this.bookings.reserved[to] = old.bookings.reserved[from] as number;
    });
  }
}

function sameUnits(a: Node, b: Node): boolean {
  if (a.units === b.units) return true;
  return (
    a.units.length === b.units.length && a.units.every((unit, i) => unit.id === b.units[i]?.id)
  );
}
