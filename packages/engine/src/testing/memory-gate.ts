/**
 * One gate's rows in memory and what a batch does to them, written from the gate's SQL: rows, not an
 * engine's state, so an engine cannot be right by accident.
 */
import type { Delta, GateBatch, GateHead } from "@berth/db";
import {
  type Change,
  type DomainEvent,
  type Node,
  type Outage,
  type PoolConfig,
  type Reservation,
  type RollupRow,
  type UnitId,
  type UnitReservation,
  type Waiter,
  UNIT_CLASSES,
} from "@berth/domain";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What a head tells of the whole database. */
export type Time = Pick<GateHead, "outages" | "heldSince" | "sinceBeatMs">;

export interface Gate {
  head: Mutable<Omit<GateHead, "now" | "gateId" | keyof Time>>;
  config: PoolConfig | null;
  nodes: Map<string, { node: Node; seq: number }>;
  /** Ended ones too. */
  reservations: Map<string, { row: Reservation; seq: number }>;
  unitReservations: Map<string, { row: UnitReservation; seq: number }>;
  waiters: Map<Waiter["id"], { waiter: Waiter | null; seq: number; doneAt?: number }>;
  rollup: readonly RollupRow[];
  used: Map<string, GateBatch["quotaUsed"][number]>;
  /** By batch id: the number under which it was written. */
  history: Map<string, number>;
  events: { seq: number; idx: number; event: DomainEvent }[];
}

export const NOTHING_NEW: Omit<Delta, "head" | "reset"> = {
  config: null,
  nodes: [],
  reservations: [],
  unitReservations: [],
  waiters: [],
};

export function newGate(): Gate {
  return {
    head: {
      seq: 0,
      lastAt: 0,
      configSeq: 0,
      fleetSeq: 0,
      resetSeq: 0,
      nextDueAt: null,
      graceTo: 0,
    },
    config: null,
    nodes: new Map(),
    reservations: new Map(),
    unitReservations: new Map(),
    waiters: new Map(),
    rollup: [],
    used: new Map(),
    history: new Map(),
    events: [],
  };
}

/** A batch whose number is a multiple of it forgets waiters that were done an hour ago. */
const FORGETS_EVERY = 256;
const HOUR_MS = 3_600_000;

/** Everything of the batch, under the gate's next number. */
export function writeBatch(
  gate: Gate,
  batch: GateBatch,
  { now, stored }: { readonly now: number; stored(node: Node): Node },
): number {
  gate.head.seq += 1;
  const { seq } = gate.head;
  for (const change of batch.changes) writeChange(gate, change, { seq, now, stored });
  gate.rollup = batch.rollup;
  for (const row of batch.quotaUsed) gate.used.set(`${row.tenantId} ${row.resource}`, row);
  batch.events.forEach((event, idx) => gate.events.push({ seq, idx, event }));
  gate.history.set(batch.id, seq);
  gate.head.lastAt = now;
  gate.head.nextDueAt = batch.nextDueAt;
  gate.head.graceTo = Math.max(gate.head.graceTo, batch.graceTo ?? 0);
  if (seq % FORGETS_EVERY === 0) forget(gate, now);
  return seq;
}

function writeChange(
  gate: Gate,
  change: Change,
  { seq, now, stored }: { seq: number; now: number; stored(node: Node): Node },
): void {
  switch (change.kind) {
    case "reservation":
      gate.reservations.set(change.after.id, { row: change.after, seq });
      break;
    case "config":
      writeConfig(gate, change.after, seq);
      break;
    case "node":
      gate.head.fleetSeq = seq;
      if (change.after) {
        gate.nodes.set(change.after.id, { node: stored(change.after), seq });
      } else if (change.before) {
        gate.nodes.delete(change.before.id);
        gate.head.resetSeq = seq;
      }
      break;
    case "unitReservation":
      if (change.after) gate.unitReservations.set(change.after.id, { row: change.after, seq });
      else if (change.before) gate.unitReservations.delete(change.before.id);
      break;
    case "waiter": {
      const id = (change.after ?? change.before)?.id;
      const done = change.after ? {} : { doneAt: now };
      if (id) gate.waiters.set(id, { waiter: change.after, seq, ...done });
    }
  }
}

function writeConfig(gate: Gate, after: PoolConfig, seq: number): void {
  const by = <T>(rows: readonly T[], key: (row: T) => string): T[] =>
    rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  const quotas = by(after.quotas, (row) => `${row.tenantId}\n${row.resource}`);
  gate.config = { ...after, quotas, offers: by(after.offers, (row) => row.tenantId) };
  gate.head.configSeq = seq;
  const there = new Map(quotas.map((row) => [`${row.tenantId} ${row.resource}`, row]));
  for (const key of gate.used.keys()) if (!there.has(key)) gate.used.delete(key);
  for (const [key, { tenantId, resource }] of there)
    if (!gate.used.has(key)) gate.used.set(key, { tenantId, resource, used: 0 });
}

/** Whoever has not seen a forgotten waiter end would keep it for ever. */
function forget(gate: Gate, now: number): void {
  for (const [id, { seq, doneAt }] of gate.waiters) {
    if (doneAt === undefined || doneAt >= now - HOUR_MS) continue;
    gate.waiters.delete(id);
    gate.head.resetSeq = Math.max(gate.head.resetSeq, seq);
  }
}

/** A node's units in the order in which the database reads them. */
export function inStoredOrder(node: Node): Node {
  const place = (unit: Node["units"][number]): string =>
    `${UNIT_CLASSES.indexOf(unit.class)} ${String(unit.index).padStart(6, "0")} ${unit.id}`;
  const order = (units: Node["units"]): Node["units"] =>
    units.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
  const maintenance = node.maintenance.toSorted(
    (a, b) => a.start - b.start || (a.id < b.id ? -1 : 1),
  );
  return { ...node, units: order(node.units), gpus: order(node.gpus), maintenance };
}

/** What one booking row would hold. */
export interface Span {
  readonly unitId: UnitId;
  readonly from: number;
  readonly to: number;
}

/** The bookings of a reservation: an ended one holds what it used. */
export function spansOf({ members, pins, start, end, endedAt }: Reservation): Span[] {
  const to = endedAt === null ? end : Math.min(end, endedAt);
  if (to <= start) return [];
  const pinned = new Map<UnitId, number>();
  if (endedAt === null)
    for (const pin of pins)
      for (const unitId of pin.unitIds) pinned.set(unitId, Math.min(pin.from, start));
  return members.flatMap(({ unitIds }) =>
    unitIds.map((unitId) => ({ unitId, from: pinned.get(unitId) ?? start, to })),
  );
}

/** One that follows within half a minute of another is a part of it. */
export function recordOutage(outages: { from: number; to: number }[], { from, to }: Outage): void {
  const last = outages.at(-1);
  const end = Math.max(to, (last?.to ?? 0) + 1);
  if (!last || from >= last.to + 30_000) return void outages.push({ from, to: end });
  last.from = Math.min(last.from, from);
  last.to = end;
}

export function byId<T extends { readonly id: string }>(rows: T[]): T[] {
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}
