/** Questions to plain rows, answered by looking at every row. */
import type { UnitId } from "../../ids.ts";
import { RESOURCES, SCALARS } from "../../model.ts";
import type { Node, PoolSnapshot, Reservation, Scalar, Unit } from "../../model.ts";
import type { PoolState } from "../../state/pool-state.ts";
import { bruteIsSound } from "../brute-force.ts";
import { TENANTS } from "./start.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
}

export const meets = (a: Span, b: Span): boolean => a.start < b.end && b.start < a.end;
export const sorted = <T extends string>(ids: Iterable<T>): T[] => [...ids].sort();
export const byId = <T extends { readonly id: string }>(rows: Iterable<T>): T[] =>
  [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
export const isLive = ({ state }: Reservation): boolean =>
  state === "scheduled" || state === "active" || state === "preempting";

export function nodeOf(rows: PoolSnapshot, id: string): Node | undefined {
  return rows.nodes.find((node) => node.id === id);
}

/** What is taken, by whom and when: bookings, and what is pinned for those who wait for it. */
export interface Taken extends Span {
  readonly by: Reservation;
  readonly nodeId: string;
  readonly unitIds: readonly UnitId[];
  readonly resources: Readonly<Record<Scalar, number>>;
  readonly pinned: boolean;
}

export function takenIn(reservations: readonly Reservation[]): Taken[] {
  return reservations.flatMap((by) => [
    ...by.members.map((m) => ({ ...m, by, start: by.start, end: by.end, pinned: false })),
    ...by.pins.map((pin) => ({ ...pin, by, start: pin.from, end: by.start, pinned: true })),
  ]);
}

/** The most that is taken of a node's scalar at any instant of the window. */
export function scalarPeak(
  taken: readonly Taken[],
  about: { readonly nodeId: string; readonly scalar: Scalar },
  window: Span,
): number {
  const mine = taken.filter((one) => one.nodeId === about.nodeId && meets(one, window));
  const edges = mine.map(({ start }) => Math.max(start, window.start));
  return Math.max(0, ...edges.map((at) => levelAt(mine, about.scalar, at)));
}

function levelAt(taken: readonly Taken[], scalar: Scalar, at: number): number {
  return taken
    .filter(({ start, end }) => start <= at && at < end)
    .reduce((sum, { resources }) => sum + resources[scalar], 0);
}

/** What the reservation is charged, by resource. */
export function chargeOf(rows: PoolSnapshot, r: Reservation): Map<string, number> {
  const sums = new Map<string, number>();
  const add = (resource: string, amount: number): unknown =>
    amount > 0 && sums.set(resource, (sums.get(resource) ?? 0) + amount);
  for (const { nodeId, unitIds, resources } of r.members) {
    const units = nodeOf(rows, nodeId)?.units.filter(({ id }) => unitIds.includes(id)) ?? [];
    const isBeside = (unit: Unit): boolean => unit.class === "nic.vf" || unit.class === "disk";
    if (r.binding === "node") {
      const gpus = units.filter((unit) => !isBeside(unit));
      add("gpu", new Set(gpus.map((unit) => unit.parentUnitId ?? unit.id)).size);
      add("node", 1);
    }
    for (const unit of units) if (r.binding === "hold" || isBeside(unit)) add(unit.class, 1);
    for (const scalar of SCALARS) add(scalar, resources[scalar]);
  }
  return sums;
}

/** Units of it that cannot be used at some time of its window. */
export function harmedUnits(rows: PoolSnapshot, r: Reservation): UnitId[] {
  return r.members.flatMap(({ nodeId, unitIds }) => {
    const node = nodeOf(rows, nodeId);
    if (!node || node.state !== "ready" || node.maintenance.some((w) => meets(w, r)))
      return [...unitIds];
    const inReview = rows.unitReservations
      .filter((row) => row.nodeId === nodeId && row.status === "needs-review")
      .filter((row) => meets({ start: row.startsAt, end: row.endsAt ?? Infinity }, r))
      .flatMap((row) => row.unitIds);
    return unitIds.filter((id) => {
      const unit = node.units.find((u) => u.id === id);
      return !unit || !bruteIsSound(node, unit) || inReview.includes(id);
    });
  });
}

/** The next thing that time does to the pool. */
export function nextDue(rows: PoolSnapshot): number | null {
  const times = [
    ...rows.reservations.flatMap((r) => [r.end, r.leaseExpiresAt, r.endingSoonAt]),
    ...rows.reservations.flatMap((r) => (r.startedAt === null ? [r.start] : [])),
    ...rows.nodes.flatMap((n) => n.maintenance.map((w) => (w.active ? w.end : w.start))),
    ...rows.unitReservations.flatMap((u) => [u.endsAt, u.status === "pending" ? u.startsAt : null]),
    ...rows.waiters.map(({ deadline }) => deadline),
  ].filter((time) => time !== null);
  return times.length > 0 ? Math.min(...times) : null;
}

/** Everything that a state tells anybody, as text; a row is written as its digest. */
export function dump(state: PoolState): string {
  const nodes = [...state.nodes()];
  const live = byId(state.reservations());
  return JSON.stringify({
    config: digest(state.config),
    nodes: nodes.map(digest),
    units: nodes.flatMap(({ units }) =>
      units.map(({ id }) => [state.unit(id)?.node.id === undefined, state.bookingsOf(id)]),
    ),
    on: nodes.map(({ id }) => state.reservationsOn(id).map(digest)),
    live: live.map((r) => [r.id, digest(r)]),
    entries: state.entries.map((entry) => [
      [...entry.usable],
      entry.faulty,
      entry.leases,
      entry.terms?.map((terms) =>
        terms
          .map(({ start, end, reservation }) => `${start} ${end} ${digest(reservation)}`)
          .toSorted(),
      ),
      SCALARS.map((scalar) => {
        const use = entry.scalarUse.get(scalar);
        return use ? [[...use.all.points()], [...use.later.points()], use.active] : [[], [], 0];
      }),
    ]),
    terms: [
      byId(state.unitReservations()).map(digest),
      nodes.map(({ id }) => state.unitReservationsOn(id).map(digest)),
    ],
    waiting: [...state.waiting.all()].map(digest),
    degraded: state.degraded().map(digest),
    untried: [state.degradedCount, state.untriedCount],
    victims: live.map(({ id }) => state.victimsOf(id).map(digest)),
    preemptible: sorted(state.preemptible().keys()),
    pending: state.pendingLayouts(),
    rollup: state.rollup(),
    usage: TENANTS.map((tenant) =>
      RESOURCES.map((resource) => [...(state.usage(tenant, resource)?.points() ?? [])]),
    ),
    due: [state.nextDueAt(), state.due(Number.MAX_SAFE_INTEGER)],
  });
}

/** Rows are never changed in place, so each is read only once. */
const digests = new WeakMap<object, number>();

function digest(row: object | null): number {
  if (row === null) return 0;
  let known = digests.get(row);
  if (known === undefined) {
    known = 7;
    const text = JSON.stringify(row);
    for (let i = 0; i < text.length; i += 1)
      known = (known * 31 + text.charCodeAt(i)) % 4_503_599_627_370;
    digests.set(row, known);
  }
  return known;
}
