/**
 * Whether one node takes one member of the request in a window, and if not, the first filter that says no.
 * In order:
 *
 * 1. Could it ever: `CLASS` when the pool's mode lacks it, `SELECTOR` (labels, then units), `CLASS`, `COUNT`, `NVLINK`, `SCALAR`, the node empty
 *    and healthy, whatever its state.
 * 2. `NODE_STATE`: not ready. 3. `MAINTENANCE`: a window overlaps.
 * 4. `UNHEALTHY`: without its faulty units it could not take it even when empty.
 * 5. `WITHHELD`: nor without those that a unit reservation keeps from the tenant in the window.
 * 6. `BUSY`: too few units are free for the whole window.
 * 7. `NVLINK`: enough are free, but not together in one domain.
 * 8. `SCALAR`: some instant of the window leaves too little of a scalar.
 */
import { SCALARS } from "../model.ts";
import type { Scalar } from "../model.ts";
import type { Cause } from "../refusal.ts";
import type { SeenNode } from "../state/node-entry.ts";
import { enough, canSeat } from "./matching.ts";
import type { UnitList } from "./matching.ts";
import {
  hasFaultyGpu,
  hasUncutGpu,
  wantsWholeLinked,
  wholeIsLinked,
  wholeMatches,
} from "./node-binding.ts";
import { fitOf } from "./plan.ts";
import type { Plan, ShapeFit } from "./plan.ts";
import { isWithheld } from "./withheld.ts";

export interface Window {
  readonly start: number;
  readonly end: number;
}

/** Null when it fits; then `plan.units` holds the free units (see `freeUnits`) unless all were (`isPlain`). */
export function causeOf(plan: Plan, entry: SeenNode, window: Window): Cause | null {
  const cause = unitsCause(plan, entry, window);
  if (cause !== null) return cause;
  return asksScalars(plan) && lacksScalar(plan, entry, window) ? "SCALAR" : null;
}

/** The same without the scalars in use. */
export function unitsCause(plan: Plan, entry: SeenNode, window: Window): Cause | null {
  const fit = fitOf(plan, entry);
  const lasting = lastingCause(plan, entry, fit);
  if (lasting) return lasting;
  for (const { start, end } of entry.node.maintenance) {
    if (start < window.end && end > window.start) return "MAINTENANCE";
  }
  if (!healthyEnough(plan, entry, fit)) return "UNHEALTHY";
  if (!isPlain(entry)) {
    if (entry.terms !== null && !openEnough({ plan, entry, fit }, window)) return "WITHHELD";
    const free = freeUnits({ plan, entry, fit }, window);
    if (!enough(fit.demand, free.masks, free.size)) return "BUSY";
    if (!canSeat(fit.demand, free, plan.search)) return "NVLINK";
  }
  return null;
}

export function asksScalars(plan: Plan): boolean {
  return plan.whole || plan.asks.length > 0;
}

/** Whether some instant of the window leaves it too little of a scalar, of which it has enough in all. */
export function lacksScalar(plan: Plan, entry: SeenNode, window: Window): boolean {
  return entry.scalarUse.size > 0 && scarceScalars(plan, entry, window).length > 0;
}

/** Whether all of its units are free at all times, for everyone. */
export function isPlain(entry: SeenNode): boolean {
  return entry.calendar.size === 0 && entry.faulty === 0 && entry.terms === null;
}

/** Causes that no later window changes (by what is known now), but for the health of units. */
export function lastingCause(plan: Plan, entry: SeenNode, fit: ShapeFit): Cause | null {
  const { node } = entry;
  if (plan.foreign.length > 0) return "CLASS";
  for (const labels of plan.labelled) if (!carries(node.labels, labels)) return "SELECTOR";
  if (plan.whole && !wholeMatches(entry, plan.request.devices[0])) return "SELECTOR";
  if (fit.cause) return fit.cause;
  if (plan.whole && hasUncutGpu(entry)) return "COUNT";
  if (plan.whole && wantsWholeLinked(plan.request) && !wholeIsLinked(entry)) return "NVLINK";
  for (const { scalar, amount } of plan.asks) if (node.scalars[scalar] < amount) return "SCALAR";
  return node.state === "ready" ? null : "NODE_STATE";
}

/** Whether the faulty units alone leave the node in. */
export function healthyEnough(plan: Plan, entry: SeenNode, fit: ShapeFit): boolean {
  if (plan.whole && hasFaultyGpu(entry)) return false;
  if (entry.faulty === 0) return true;
  const units = healthyUnits(plan, entry, fit);
  return enough(fit.demand, units.masks, units.size) && canSeat(fit.demand, units, plan.search);
}

/** The healthy units, booked or not, in `plan.units`. */
export function healthyUnits(plan: Plan, entry: SeenNode, fit: ShapeFit): UnitList {
  const { units } = plan;
  units.clear();
  for (let i = 0; i < fit.places.length; i += 1) {
    const place = fit.places[i] as number;
    if (entry.usable[place]) units.push(place, fit.masks[i] as number, fit.domains[i] as number);
  }
  return units;
}

interface At {
  readonly plan: Plan;
  readonly entry: SeenNode;
  readonly fit: ShapeFit;
}

/** Whether unit reservations leave the node in, were it empty. */
function openEnough({ plan, entry, fit }: At, window: Window): boolean {
  const { units, request } = plan;
  units.clear();
  fit.places.forEach((place, i) => {
    if (entry.usable[place] === 0 || isWithheld({ entry, place }, window, request)) return;
    units.push(place, fit.masks[i] as number, fit.domains[i] as number);
  });
  return enough(fit.demand, units.masks, units.size) && canSeat(fit.demand, units, plan.search);
}

/** The healthy units that are free for the whole window, in `plan.units`. */
export function freeUnits(at: At, window: Window): UnitList {
  const { places, masks, domains, scored } = at.fit;
  const { entry } = at;
  const { usable, calendar, terms } = entry;
  const { units, request } = at.plan;
  units.clear();
  const free = calendar.freeOf(places, window);
  for (let i = 0; i < places.length; i += 1) {
    const place = places[i] as number;
    if (free[i] === 0 || usable[place] === 0) continue;
    if (terms !== null && isWithheld({ entry, place }, window, request)) continue;
    units.push(place, masks[i] as number, domains[i] as number);
    units.scored += scored[i] as number;
  }
  return units;
}

/** What one member asks of the node's scalars: of a whole node all. */
export function asksOf(
  plan: Plan,
  entry: SeenNode,
): readonly { readonly scalar: Scalar; readonly amount: number }[] {
  if (!plan.whole) return plan.asks;
  return SCALARS.map((scalar) => ({ scalar, amount: entry.node.scalars[scalar] })).filter(
    ({ amount }) => amount > 0,
  );
}

/** Scalars that the node has too little of at some instant of the window. */
export function scarceScalars(plan: Plan, entry: SeenNode, window: Window): Scalar[] {
  return asksOf(plan, entry)
    .filter(({ scalar, amount }) => {
      const used = entry.scalarUse.get(scalar)?.all.peak(window.start, window.end) ?? 0;
      return used + amount > entry.node.scalars[scalar];
    })
    .map(({ scalar }) => scalar);
}

/** Members for which the node's scalars are enough at every instant of the window. */
export function scalarsMost(plan: Plan, entry: SeenNode, window: Window): number {
  let most = Number.POSITIVE_INFINITY;
  for (const { scalar, amount } of plan.asks) {
    const used = entry.scalarUse.get(scalar)?.all.peak(window.start, window.end) ?? 0;
    most = Math.min(most, Math.floor((entry.node.scalars[scalar] - used) / amount));
  }
  return most;
}

export function carries(
  labels: Readonly<Record<string, string>>,
  asked: Readonly<Record<string, string>>,
): boolean {
  for (const key in asked) {
    if (!Object.hasOwn(labels, key) || labels[key] !== asked[key]) return false;
  }
  return true;
}
