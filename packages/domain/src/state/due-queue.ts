/**
 * What time will do to a pool next: an indexed heap, one entry a live reservation, maintenance window,
 * unit reservation or waiter.
 */
import type { MaintenanceId, NodeId, ReservationId, UnitReservationId } from "../ids.ts";
import type { UnitReservation, Waiter } from "../claims.ts";
import type { Maintenance, Reservation } from "../model.ts";

/** What has to happen at `at`. The transition that answers it changes the row, and so the next item. */
export type DueItem =
  | {
      readonly kind: "end" | "lease" | "endingSoon" | "start";
      readonly at: number;
      readonly reservationId: ReservationId;
    }
  | {
      readonly kind: "maintenanceEnd" | "maintenanceStart";
      readonly at: number;
      readonly nodeId: NodeId;
      readonly maintenanceId: MaintenanceId;
    }
  | {
      readonly kind: "unitReservationEnd" | "unitReservationStart";
      readonly at: number;
      readonly unitReservationId: UnitReservationId;
    }
  | { readonly kind: "waiterDeadline"; readonly at: number; readonly waiterId: ReservationId };

/** At one instant, in this order: what frees comes before what takes. */
const RANK = {
  end: 0,
  lease: 1,
  unitReservationEnd: 2,
  maintenanceEnd: 3,
  endingSoon: 4,
  waiterDeadline: 5,
  maintenanceStart: 6,
  unitReservationStart: 7,
  start: 8,
} as const;

/** A reservation's next item. A lease that lapses with the end is not a lapse: the end is what happens. */
export function nextOfReservation(r: Reservation): DueItem {
  let kind: "end" | "lease" | "endingSoon" | "start" = "end";
  let at = r.end;
  const consider = (other: "lease" | "endingSoon" | "start", time: number): void => {
    if (time > at || (time === at && RANK[other] >= RANK[kind])) return;
    kind = other;
    at = time;
  };
  if (r.leaseExpiresAt !== null) consider("lease", r.leaseExpiresAt);
  if (r.endingSoonAt !== null) consider("endingSoon", r.endingSoonAt);
  if (r.startedAt === null) consider("start", r.start);
  return { kind, at, reservationId: r.id };
}

export function nextOfMaintenance(nodeId: NodeId, window: Maintenance): DueItem {
  return {
    kind: window.active ? "maintenanceEnd" : "maintenanceStart",
    at: window.active ? window.end : window.start,
    nodeId,
    maintenanceId: window.id,
  };
}

/** Null for a term that runs on without an end. One in need of a review has nothing left but its end. */
export function nextOfUnitReservation(row: UnitReservation): DueItem | null {
  const { id: unitReservationId, endsAt } = row;
  if (row.status === "pending" && (endsAt === null || row.startsAt < endsAt))
    return { kind: "unitReservationStart", at: row.startsAt, unitReservationId };
  return endsAt === null ? null : { kind: "unitReservationEnd", at: endsAt, unitReservationId };
}

export function deadlineOf(waiter: Waiter): DueItem {
  return { kind: "waiterDeadline", at: waiter.deadline, waiterId: waiter.id };
}

/** What an item is an item of: there is one for each. */
export function keyOfDue(item: DueItem): string {
  if ("reservationId" in item) return item.reservationId;
  if ("maintenanceId" in item) return item.maintenanceId;
  if ("unitReservationId" in item) return item.unitReservationId;
  // A waiter has the id of the reservation that it becomes.
  return `waiter:${item.waiterId}`;
}

interface Entry {
  readonly key: string;
  item: DueItem;
  place: number;
}

export class DueQueue {
  readonly #heap: Entry[] = [];
  readonly #byKey = new Map<string, Entry>();

  /** Puts or replaces the item of its reservation, window, term or waiter.
   */
  set(item: DueItem): void {
    const key = keyOfDue(item);
    let entry = this.#byKey.get(key);
    if (entry) entry.item = item;
    else {
      entry = { key, item, place: this.#heap.length };
      this.#heap.push(entry);
      this.#byKey.set(key, entry);
    }
    this.#settle(entry);
  }

  delete(key: string): void {
    const entry = this.#byKey.get(key);
    if (!entry) return;
    this.#byKey.delete(key);
    const last = this.#heap.pop() as Entry;
    if (last === entry) return;
    last.place = entry.place;
    this.#heap[last.place] = last;
    this.#settle(last);
  }

  first(): DueItem | null {
    return this.#heap[0]?.item ?? null;
  }

  #settle(entry: Entry): void {
    const heap = this.#heap;
    while (entry.place > 0) {
      const parent = heap[(entry.place - 1) >> 1] as Entry;
      if (!before(entry, parent)) break;
      this.#swap(entry, parent);
    }
    for (;;) {
      const left = heap[2 * entry.place + 1];
      const right = heap[2 * entry.place + 2];
      const child = left && right && before(right, left) ? right : left;
      if (!child || !before(child, entry)) return;
      this.#swap(child, entry);
    }
  }

  #swap(a: Entry, b: Entry): void {
    const place = a.place;
    a.place = b.place;
    b.place = place;
    this.#heap[a.place] = a;
    this.#heap[b.place] = b;
  }
}

function before(a: Entry, b: Entry): boolean {
  if (a.item.at !== b.item.at) return a.item.at < b.item.at;
  const rank = RANK[a.item.kind] - RANK[b.item.kind];
  return rank !== 0 ? rank < 0 : a.key < b.key;
}
