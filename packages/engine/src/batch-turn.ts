/**
 * The turn of one batch: rules change the pool's state through it, it remembers what they did, takes a
 * refused command's part back, and hands the whole to the gate. When planning is over everything is
 * undone; the state is changed for good only after the database has taken the batch.
 */
import type { AuditEntry, GateBatch, KeyClaim } from "@berth/db";
import {
  type Change,
  type DeriveId,
  type DomainEvent,
  type Id,
  type IdPrefix,
  type PoolState,
  type ReservationId,
  type TenantId,
  type Turn,
  frees,
  freshId,
} from "@berth/domain";
import { derive } from "./derive.ts";
import type { View } from "./pool-cache.ts";

export type Random = (bytes: number) => Uint8Array;

export interface Checkpoint {
  readonly changes: number;
  readonly events: number;
  readonly freed: boolean;
}

export interface TurnContext {
  readonly random: Random;
  isServing(serverId: string): boolean;
}

export class BatchTurn implements Turn {
  readonly state: PoolState;
  readonly now: number;
  readonly derive: DeriveId = derive;
  /** By key: what the batch claims so far. */
  readonly claims: Map<string, KeyClaim> = new Map();
  readonly #view: View;
  readonly #context: TurnContext;
  readonly #changes: Change[] = [];
  readonly #events: DomainEvent[] = [];
  readonly #filed: AuditEntry[] = [];
  #freed = false;

  constructor(view: View, context: TurnContext) {
    this.state = view.state;
    this.now = view.now;
    this.#view = view;
    this.#context = context;
  }

  apply(change: Change): void {
    this.state.apply(change);
    this.#changes.push(change);
    if (frees(change)) this.#freed = true;
  }

  takeFreed(): boolean {
    const freed = this.#freed;
    this.#freed = false;
    return freed;
  }

  /** As if something had been freed. */
  markFreed(): void {
    this.#freed = true;
  }

  isServing(serverId: string): boolean {
    return this.#context.isServing(serverId);
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
    return freshId(prefix, this.now, this.#context.random(10));
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0 && this.#events.length === 0;
  }

  /** Whether there is anything to write: that leases were minded after an outage is, too. */
  get isIdle(): boolean {
    return this.isEmpty && this.#view.clock.outages.length === 0;
  }

  checkpoint(): Checkpoint {
    return {
      changes: this.#changes.length,
      events: this.#events.length,
      freed: this.#freed,
    };
  }

  /** Takes back what was done since the checkpoint. */
  rollback(to: Checkpoint): void {
    while (this.#changes.length > to.changes) {
      const change = this.#changes.pop();
      if (change) this.state.revert(change);
    }
    this.#events.length = to.events;
    this.#freed = to.freed;
  }

  /** The reservation made since the checkpoint, if one was. */
  createdSince(from: Checkpoint): ReservationId | null {
    for (const change of this.#changes.slice(from.changes))
      if (change.kind === "reservation" && change.before === null) return change.after.id;
    return null;
  }

  claim(key: Omit<KeyClaim, "reservationId">, reservationId: ReservationId): void {
    this.claims.set(keyOf(key), { ...key, reservationId });
  }

  /** Puts a command on file that is not taken back any more. */
  file(entry: AuditEntry): void {
    this.#filed.push(entry);
  }

  /** Claims the keys of those who were served since the checkpoint. */
  claimServed(from: Checkpoint): void {
    const made = new Set<string>();
    for (const change of this.#changes.slice(from.changes)) {
      if (change.kind === "reservation" && change.before === null) made.add(change.after.id);
      if (change.kind !== "waiter" || !change.before || change.after !== null) continue;
      const { id, tenantId, key } = change.before;
      if (key && made.has(id)) this.claim({ tenantId, ...key }, id);
    }
  }

  /** What the gate is to write, counted at the planned state. */
  finish(id: string): GateBatch {
    const changes = coalesce(this.#changes);
    const graceTo = this.#view.clock.outages.at(-1)?.to;
    return {
      id,
      keys: [...this.claims.values()],
      ...(graceTo === undefined ? {} : { graceTo }),
      changes,
      quotaUsed: quotaUsed(this.state, changes, this.now),
      rollup: this.state.config ? this.state.rollup() : [],
      events: [...this.#events],
      audit: [...this.#filed],
      // What a turn had no time for keeps the worker coming.
      nextDueAt: isUnfinished(this.state) ? this.now : this.state.nextDueAt(),
    };
  }
}

/** Nodes have yet to take a layout, or bookings on failed hardware to be tried elsewhere. */
function isUnfinished(state: PoolState): boolean {
  return state.untriedCount > 0 || state.pendingLayouts().length > 0;
}

/**
 * At most one change a target: the first `before`, the last `after`. What came and went within the batch
 * never was.
 */
export function coalesce(changes: readonly Change[]): Change[] {
  const byTarget = new Map<string, Change>();
  for (const change of changes) {
    const target = targetOf(change);
    const earlier = byTarget.get(target);
    byTarget.set(target, earlier ? joined(earlier, change) : change);
  }
  return [...byTarget.values()].filter(({ before, after }) => before !== null || after !== null);
}

/** Two changes of one target, one after the other, as one. */
function joined(earlier: Change, change: Change): Change {
  const both = { ...change, before: earlier.before } as Change;
  if (both.kind !== "node" || earlier.kind !== "node" || !earlier.givers) return both;
  return { ...both, givers: [...earlier.givers, ...(both.givers ?? [])] };
}

/** A waiter has the id of the reservation that it becomes, so the kind belongs to the name. */
function targetOf({ kind, before, after }: Change): string {
  return kind === "config" ? kind : `${kind} ${(after ?? before)?.id ?? ""}`;
}

/** One text for one key of one principal. */
export function keyOf(claim: Pick<KeyClaim, "tenantId" | "principal" | "key">): string {
  return JSON.stringify([claim.tenantId, claim.principal, claim.key]);
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
