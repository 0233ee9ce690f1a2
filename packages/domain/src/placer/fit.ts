/**
 * Whether one node takes the request in a window, and if not, the first filter that says no. In order:
 *
 * 1. Could it ever: `CLASS` when the pool's mode lacks it, `SELECTOR` (labels, then units), `CLASS`, `COUNT`, `NVLINK`, `SCALAR`, the node empty
 *    and healthy, whatever its state.
 * 2. `NODE_STATE`: not ready. 3. `MAINTENANCE`: a window overlaps.
 * 4. `UNHEALTHY`: without its faulty units it could not take it even when empty.
 * 5. `BUSY`: too few units are free for the whole window.
 * 6. `NVLINK`: enough are free, but not together in one domain.
 * 7. `SCALAR`: some instant of the window leaves too little of a scalar.
 */
import type { Scalar } from "../model.ts";
import type { Cause } from "../refusal.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import { enough, canSeat } from "./matching.ts";
import type { UnitList } from "./matching.ts";
import { fitOf } from "./plan.ts";
import type { Plan, ShapeFit } from "./plan.ts";

export interface Window {
  readonly start: number;
  readonly end: number;
}

/** Null when it fits; then `plan.units` holds the free units (see `freeUnits`) unless all were. */
export function causeOf(plan: Plan, entry: NodeEntry, window: Window): Cause | null {
  const fit = fitOf(plan, entry);
  const lasting = lastingCause(plan, entry, fit);
  if (lasting) return lasting;
  for (const { start, end } of entry.node.maintenance) {
    if (start < window.end && end > window.start) return "MAINTENANCE";
  }
  if (entry.calendar.size > 0 || entry.faulty > 0) {
    if (entry.faulty > 0 && !healthyEnough(plan, entry, fit)) return "UNHEALTHY";
    const free = freeUnits({ plan, entry, fit }, window);
    if (!enough(plan.demand, free.masks, free.size)) return "BUSY";
    if (!canSeat(plan.demand, free, plan.search)) return "NVLINK";
  }
  return plan.asks.length > 0 && scarceScalars(plan, entry, window).length > 0 ? "SCALAR" : null;
}

/** Causes that no later window changes (by what is known now), but for the health of units. */
export function lastingCause(plan: Plan, entry: NodeEntry, fit: ShapeFit): Cause | null {
  const { node } = entry;
  if (plan.foreign.length > 0) return "CLASS";
  for (const labels of plan.labelled) if (!carries(node.labels, labels)) return "SELECTOR";
  if (fit.cause) return fit.cause;
  for (const { scalar, amount } of plan.asks) if (node.scalars[scalar] < amount) return "SCALAR";
  return node.state === "ready" ? null : "NODE_STATE";
}

/** Whether the faulty units alone rule the node out. */
export function healthyEnough(plan: Plan, entry: NodeEntry, fit: ShapeFit): boolean {
  if (entry.faulty === 0) return true;
  const { units } = plan;
  units.clear();
  for (let i = 0; i < fit.places.length; i += 1) {
    const place = fit.places[i] as number;
    if (entry.usable[place]) units.push(place, fit.masks[i] as number, fit.domains[i] as number);
  }
  return enough(plan.demand, units.masks, units.size) && canSeat(plan.demand, units, plan.search);
}

/** The healthy units that are free for the whole window, in `plan.units`. */
export function freeUnits(
  at: { readonly plan: Plan; readonly entry: NodeEntry; readonly fit: ShapeFit },
  window: Window,
): UnitList {
  const { places, masks, domains, scored } = at.fit;
  const { usable, calendar } = at.entry;
  const { units } = at.plan;
  units.clear();
  const free = calendar.freeOf(places, window);
  for (let i = 0; i < places.length; i += 1) {
    if (free[i] === 0 || usable[places[i] as number] === 0) continue;
    units.push(places[i] as number, masks[i] as number, domains[i] as number);
    units.scored += scored[i] as number;
  }
  return units;
}

/** Scalars that the node has too little of at some instant of the window. */
export function scarceScalars(plan: Plan, entry: NodeEntry, window: Window): Scalar[] {
  return plan.asks
    .filter(({ scalar, amount }) => {
      const used = entry.scalarUse.get(scalar)?.all.peak(window.start, window.end) ?? 0;
      return used + amount > entry.node.scalars[scalar];
    })
    .map(({ scalar }) => scalar);
}

function carries(
  labels: Readonly<Record<string, string>>,
  asked: Readonly<Record<string, string>>,
): boolean {
  for (const key in asked) {
    if (!Object.hasOwn(labels, key) || labels[key] !== asked[key]) return false;
  }
  return true;
}
