/**
 * A turn is one planned step on one pool: rules read the state at `now`, change it, and tell of it. The
 * engine collects what a turn did, takes it back, writes it through the gate and, when the database has
 * taken it, does it again. So a state that anybody reads is always one that is committed.
 */
import type { DeriveId, EventId, Id, IdPrefix, NodeId, TenantId } from "./ids.ts";
import type { UnitReservation, Waiter } from "./claims.ts";
import type { Node, PoolConfig, Reservation } from "./model.ts";
import type { PoolState } from "./state/pool-state.ts";

export type Change =
  /** `null` or an ended reservation is no longer live. */
  | {
      readonly kind: "reservation";
      readonly before: Reservation | null;
      readonly after: Reservation;
    }
  | {
      readonly kind: "node";
      readonly before: Node | null;
      readonly after: Node | null;
      /** Nodes of other gates that give their GPUs up to this one: the same caller writes them, too. */
      readonly givers?: readonly NodeId[];
    }
  | { readonly kind: "config"; readonly before: PoolConfig | null; readonly after: PoolConfig }
  /** One that is expired or cancelled withholds nothing; `after` is null only where its node leaves the gate. */
  | {
      readonly kind: "unitReservation";
      readonly before: UnitReservation | null;
      readonly after: UnitReservation | null;
    }
  /** `after` null: it was served, gave up or ran out of time. */
  | { readonly kind: "waiter"; readonly before: Waiter | null; readonly after: Waiter | null };

export const EVENT_TYPES = [
  "reservation.created",
  "reservation.activated",
  "reservation.renewed",
  "reservation.extended",
  "reservation.preempting",
  "reservation.preempted",
  "reservation.reprieved",
  "reservation.healed",
  "reservation.degraded",
  "reservation.endingSoon",
  "reservation.completed",
  "reservation.released",
  "reservation.expired",
  "reservation.terminated",
  "unit.healthChanged",
  "maintenance.scheduled",
  "maintenance.started",
  "maintenance.ended",
  "maintenance.cancelled",
  "tenant.put",
  "tenant.moved",
  "site.put",
  "key.created",
  "key.revoked",
  "pool.created",
  "pool.updated",
  "pool.offered",
  "pool.unoffered",
  "pool.archived",
  "unitReservation.created",
  "unitReservation.activated",
  "unitReservation.released",
  "unitReservation.reclaimed",
  "unitReservation.needsReview",
  "unitReservation.reaffirmed",
  "unitReservation.expired",
  "unitReservation.cancelled",
  "node.registered",
  "node.stateChanged",
  "node.topologyChanged",
  "node.removed",
  "rollup.corrected",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What happened, as each tenant that it concerns may see it: redaction is done when it is written. */
export interface DomainEvent {
  readonly id: EventId;
  readonly type: EventType;
  readonly at: number;
  readonly reservationId: string | null;
  readonly views: readonly {
    readonly tenantId: TenantId;
    readonly data: Readonly<Record<string, unknown>>;
  }[];
}

export interface Turn {
  readonly state: PoolState;
  /** The pool's clock for the whole batch. */
  readonly now: number;
  apply(change: Change): void;
  emit(event: Pick<DomainEvent, "type" | "views"> & { readonly reservationId?: string }): void;
  freshId<P extends IdPrefix>(prefix: P): Id<P>;
  /** For what has an id by what it is: a node's units. */
  readonly derive: DeriveId;
  /** Whether something was freed since this was last asked: those who lack room are to be tried again. */
  takeFreed(): boolean;
  /** Whether the server that holds a waiter's connection is still there. */
  isServing(serverId: string): boolean;
}

/** Whether a change may have made room, of whatever kind: then those who lack room are tried again. */
export function frees(change: Change): boolean {
  switch (change.kind) {
    case "reservation":
      return change.before !== null && change.before !== change.after && holdsLess(change);
    case "node":
    case "config":
    case "unitReservation":
      return true;
    case "waiter":
      return false;
  }
}

function holdsLess({ before, after }: Extract<Change, { kind: "reservation" }>): boolean {
  if (before === null) return false;
  const ended = after.endedAt !== null && before.endedAt === null;
  return ended || after.end < before.end || after.start > before.start || movedAway(before, after);
}

function movedAway(before: Reservation, after: Reservation): boolean {
  return before.members !== after.members || before.pins.length > after.pins.length;
}
