/**
 * A life of a pool, drawn at random: bookings come and go, time passes, nodes and units change. It keeps
 * the plain rows itself, by the plainest means, and hands out the changes that lead from one to the next.
 */
import fc from "fast-check";
import type { Node, PoolSnapshot, Reservation } from "../model.ts";
import { isStanding } from "../state/ring-fences.ts";
import type { Change } from "../turn.ts";
import {
  bookingDrawArb,
  bookingOf,
  LAST_INSTANT,
  nodeArb,
  poolArb,
  windowArb,
} from "./arbitraries.ts";
import type { BookingDraw } from "./arbitraries.ts";
import { bruteIsFree, bruteScalarPeak } from "./brute-force.ts";
import { buildMaintenance, buildNode } from "./builders.ts";

type Step =
  | { readonly kind: "book"; readonly draw: BookingDraw }
  | { readonly kind: "end" | "renew"; readonly which: number }
  | { readonly kind: "extend"; readonly which: number; readonly by: number }
  | { readonly kind: "pass"; readonly by: number }
  | { readonly kind: "node"; readonly which: number; readonly like: Node }
  | { readonly kind: "unit"; readonly which: number }
  | {
      readonly kind: "maintain";
      readonly which: number;
      readonly window: { start: number; end: number };
    }
  | { readonly kind: "join" | "leave"; readonly which: number };

const which = fc.nat({ max: 30 });
const stepArb: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("book" as const), draw: bookingDrawArb }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("end" as const, "renew" as const), which }),
  },
  fc.record({ kind: fc.constant("extend" as const), which, by: fc.integer({ min: 1, max: 4 }) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      by: fc.integer({ min: 1, max: 6 }),
    }),
  },
  fc.record({ kind: fc.constant("node" as const), which, like: nodeArb(7) }),
  fc.record({ kind: fc.constant("unit" as const), which }),
  fc.record({ kind: fc.constant("maintain" as const), which, window: windowArb }),
  fc.record({ kind: fc.constantFrom("join" as const, "leave" as const), which }),
);

export interface History {
  readonly start: PoolSnapshot;
  readonly steps: readonly Step[];
}

export const historyArb: fc.Arbitrary<History> = fc.record({
  start: poolArb,
  steps: fc.array(stepArb, { maxLength: 40 }),
});

/** The rows as they stand, and the clock. */
export interface Moment {
  readonly snapshot: PoolSnapshot;
  readonly now: number;
}

/** Every change of the history, with the rows and the clock right after it. */
export function* unfold(
  history: History,
): Generator<Moment & { readonly change: Change }, void, void> {
  let moment: Moment = { snapshot: history.start, now: 0 };
  let serial = 1_000;
  for (const step of history.steps) {
    serial += 1;
    for (const { change, now } of changesOf(moment, step, serial)) {
      moment = { snapshot: changed(moment.snapshot, change), now };
      yield { ...moment, change };
    }
  }
}

function* changesOf(
  { snapshot, now }: Moment,
  step: Step,
  serial: number,
): Generator<{ change: Change; now: number }, void, void> {
  const change = step.kind === "pass" ? null : changeOf({ snapshot, now }, step, serial);
  if (change) yield { change, now };
  if (step.kind !== "pass") return;
  let rows = snapshot;
  const last = Math.min(now + step.by, LAST_INSTANT);
  for (let at = now + 1; at <= last; at += 1) {
    for (let due = firstDue(rows, at); due; due = firstDue(rows, at)) {
      rows = changed(rows, due);
      yield { change: due, now: at };
    }
  }
}

function changeOf(
  { snapshot, now }: Moment,
  step: Exclude<Step, { kind: "pass" }>,
  serial: number,
): Change | null {
  const reservation = (n: number): Reservation | undefined =>
    snapshot.reservations[n % Math.max(1, snapshot.reservations.length)];
  const node = (n: number): Node | undefined =>
    snapshot.nodes[n % Math.max(1, snapshot.nodes.length)];
  switch (step.kind) {
    case "book": {
      const start = Math.max(now, step.draw.window.start);
      const window = { start, end: start + (step.draw.window.end - step.draw.window.start) };
      const booked = bookingOf(snapshot, serial, { ...step.draw, window });
      if (!booked) return null;
      const state = start <= now ? "active" : "scheduled";
      const leaseExpiresAt = serial % 3 === 0 ? Math.min(window.end, start + 3) : null;
      const endingSoonAt = serial % 2 === 0 ? window.end - 1 : null;
      return {
        kind: "reservation",
        before: null,
        after: { ...booked, state, leaseExpiresAt, endingSoonAt },
      };
    }
    case "end": {
      const before = reservation(step.which);
      return before
        ? { kind: "reservation", before, after: { ...before, state: "released" } }
        : null;
    }
    case "renew": {
      const before = reservation(step.which);
      if (!before || before.leaseExpiresAt === null) return null;
      const leaseExpiresAt = Math.min(before.end, before.leaseExpiresAt + 2);
      return { kind: "reservation", before, after: { ...before, leaseExpiresAt } };
    }
    case "extend": {
      const before = reservation(step.which);
      if (!before) return null;
      const after = { ...before, end: before.end + step.by, endingSoonAt: null };
      return canExtend(snapshot, before, after.end) ? { kind: "reservation", before, after } : null;
    }
    case "node": {
      const before = node(step.which);
      if (!before) return null;
      const { state, labels, scalars } = step.like;
      return { kind: "node", before, after: { ...before, state, labels, scalars } };
    }
    case "unit": {
      const before = node(step.which);
      const at = step.which % Math.max(1, before?.units.length ?? 0);
      if (!before) return null;
      const units = before.units.map((unit, i) =>
        i === at ? { ...unit, healthy: !unit.healthy } : unit,
      );
      return { kind: "node", before, after: { ...before, units } };
    }
    case "maintain": {
      const before = node(step.which);
      if (!before) return null;
      const window = { start: Math.max(now + 1, step.window.start), end: now + 12 };
      const maintenance = [...before.maintenance, buildMaintenance(serial, window)];
      return { kind: "node", before, after: { ...before, maintenance } };
    }
    case "join": {
      const after = {
        ...buildNode(20 + serial, { gpus: step.which % 5, vfs: 1 }),
        name: `joined ${serial}`,
      };
      return { kind: "node", before: null, after };
    }
    case "leave":
      return dropUnit(snapshot, node(step.which), step.which);
  }
}

/** An idle node leaves the pool; of another one, a unit that nobody holds is gone. */
function dropUnit(snapshot: PoolSnapshot, before: Node | undefined, n: number): Change | null {
  if (!before) return null;
  const forever = { start: 0, end: Number.MAX_SAFE_INTEGER };
  const held = before.units.filter((unit) => !bruteIsFree(snapshot, unit, forever));
  if (held.length === 0 && n % 2 === 0) return { kind: "node", before, after: null };
  const idle = before.units.find((unit) => !held.includes(unit));
  if (!idle) return null;
  const units = before.units.filter((unit) => unit !== idle);
  return { kind: "node", before, after: { ...before, units } };
}

function canExtend(snapshot: PoolSnapshot, reservation: Reservation, end: number): boolean {
  const window = { start: reservation.end, end };
  return reservation.members.every((member) => {
    const node = snapshot.nodes.find(({ id }) => id === member.nodeId);
    if (!node) return false;
    const units = node.units.filter((unit) => member.unitIds.includes(unit.id));
    const free = units.every((unit) => bruteIsFree(snapshot, unit, window));
    const used = bruteScalarPeak(snapshot, { node, scalar: "vcpu" }, window);
    return free && used + member.resources.vcpu <= node.scalars.vcpu;
  });
}

/** Ends before starts; otherwise any order will do. */
function firstDue(snapshot: PoolSnapshot, now: number): Change | null {
  for (const before of snapshot.reservations) {
    if (before.end <= now)
      return { kind: "reservation", before, after: { ...before, state: "completed" } };
    if (
      before.leaseExpiresAt !== null &&
      before.leaseExpiresAt <= now &&
      before.leaseExpiresAt < before.end
    ) {
      return { kind: "reservation", before, after: { ...before, state: "expired" } };
    }
  }
  for (const before of snapshot.nodes) {
    const kept = before.maintenance.filter((window) => window.end > now);
    if (kept.length < before.maintenance.length) {
      return { kind: "node", before, after: { ...before, maintenance: kept } };
    }
    if (kept.some((window) => !window.active && window.start <= now)) {
      const maintenance = kept.map((window) => ({ ...window, active: window.start <= now }));
      return { kind: "node", before, after: { ...before, maintenance } };
    }
  }
  for (const before of snapshot.reservations) {
    if (before.endingSoonAt !== null && before.endingSoonAt <= now) {
      return { kind: "reservation", before, after: { ...before, endingSoonAt: null } };
    }
    if (before.state === "scheduled" && before.start <= now) {
      const after: Reservation = { ...before, state: "active", startedAt: before.start };
      return { kind: "reservation", before, after };
    }
  }
  return null;
}

/** The rows after a change, by looking each one up. */
export function changed(snapshot: PoolSnapshot, change: Change): PoolSnapshot {
  if (change.kind === "config") return { ...snapshot, config: change.after };
  if (change.kind === "node") {
    const id = (change.after ?? change.before)?.id;
    const others = snapshot.nodes.filter((node) => node.id !== id);
    return { ...snapshot, nodes: change.after ? [...others, change.after] : others };
  }
  if (change.kind === "unitReservation") {
    const id = (change.after ?? change.before)?.id;
    const others = snapshot.unitReservations.filter((row) => row.id !== id);
    const standing = change.after && isStanding(change.after) ? [change.after] : [];
    return { ...snapshot, unitReservations: [...others, ...standing] };
  }
  if (change.kind === "waiter") {
    const id = (change.after ?? change.before)?.id;
    const others = snapshot.waiters.filter((row) => row.id !== id);
    return { ...snapshot, waiters: change.after ? [...others, change.after] : others };
  }
  const { after } = change;
  const live =
    after.state === "scheduled" || after.state === "active" || after.state === "preempting";
  const others = snapshot.reservations.filter(({ id }) => id !== after.id);
  return { ...snapshot, reservations: live ? [...others, after] : others };
}
