/**
 * The turn of one batch: rules change the pool's state through it, it remembers what they did, takes a
 * refused command's part back, and hands the whole to the gate. When planning is over everything is
 * undone; the state is changed for good only after the database has taken the batch.
 */
import type { GateBatch } from "@berth/db";
import {
  type Change,
  type DomainEvent,
  type Id,
  type IdPrefix,
  type PoolState,
  type ReservationId,
  type TenantId,
  type Turn,
  freshId,
} from "@berth/domain";

export type Random = (bytes: number) => Uint8Array;

export interface Checkpoint {
  readonly changes: number;
  readonly events: number;
}

export class BatchTurn implements Turn {
  readonly state: PoolState;
  readonly now: number;
  readonly #random: Random;
  readonly #changes: Change[] = [];
  readonly #events: DomainEvent[] = [];

  constructor(state: PoolState, now: number, random: Random) {
    this.state = state;
    this.now = now;
    this.#random = random;
  }

  apply(change: Change): void {
    this.state.apply(change);
    this.#changes.push(change);
  }

  emit(event: Pick<DomainEvent, "type" | "views"> & { readonly reservationId?: string }): void {
    this.#events.push({
      id: this.freshId("evt"),
      type: event.type,
      at: this.now,
      reservationId: event.reservationId ?? null,
      views: event.views,
    });
  }

  freshId<P extends IdPrefix>(prefix: P): Id<P> {
    return freshId(prefix, this.now, this.#random(10));
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0 && this.#events.length === 0;
  }

  checkpoint(): Checkpoint {
    return { changes: this.#changes.length, events: this.#events.length };
  }

  /** Takes back what was done since the checkpoint. */
  rollback(to: Checkpoint): void {
    while (this.#changes.length > to.changes) {
      const change = this.#changes.pop();
      if (change) this.state.revert(change);
    }
    this.#events.length = to.events;
  }

  /** The reservation made since the checkpoint, if one was. */
  createdSince(from: Checkpoint): ReservationId | null {
    for (const change of this.#changes.slice(from.changes))
      if (change.kind === "reservation" && change.before === null) return change.after.id;
    return null;
  }

  /** What the gate is to write, counted at the planned state. */
  finish(id: string): Omit<GateBatch, "keys"> {
    const changes = coalesce(this.#changes);
    return {
      id,
      changes,
      quotaUsed: quotaUsed(this.state, changes, this.now),
      rollup: this.state.config ? this.state.rollup() : [],
      events: [...this.#events],
      nextDueAt: this.state.nextDueAt(),
    };
  }
}

/** At most one change a reservation, a node and the config: the first `before`, the last `after`. */
export function coalesce(changes: readonly Change[]): Change[] {
  const byTarget = new Map<string, Change>();
  for (const change of changes) {
    const target = targetOf(change);
    const earlier = byTarget.get(target);
    byTarget.set(target, earlier ? ({ ...change, before: earlier.before } as Change) : change);
  }
  return [...byTarget.values()];
}

function targetOf(change: Change): string {
  switch (change.kind) {
    case "reservation":
      return change.after.id;
    case "node":
      return (change.after ?? change.before)?.id ?? "";
    case "config":
      return "config";
  }
}

/** The `used` of every quota row whose tenant the changes touch: the peak over live bookings from now on. */
function quotaUsed(
  state: PoolState,
  changes: readonly Change[],
  now: number,
): GateBatch["quotaUsed"] {
  const config = state.config;
  if (!config) return [];
  const touched = new Set<TenantId>();
  for (const change of changes) {
    if (change.kind === "reservation") touched.add(change.after.chargedTenantId);
    if (change.kind === "config") for (const row of change.after.quotas) touched.add(row.tenantId);
  }
  return config.quotas
    .filter((row) => touched.has(row.tenantId))
    .map(({ tenantId, resource }) => ({
      tenantId,
      resource,
      used: state.usage(tenantId, resource)?.peakFrom(now) ?? 0,
    }));
}
