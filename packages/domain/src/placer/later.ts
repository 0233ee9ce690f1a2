/**
 * When a node could take more of a request than it does at an instant, and until when it surely takes as
 * much. Both are bounds: before `moreFrom` it certainly takes no more, before `sureUntil` no less.
 */
import type { Cause } from "../refusal.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import { asksOf, freeUnits, scalarsMost } from "./fit.ts";
import type { Window } from "./fit.ts";
import { membersMost } from "./members.ts";
import { fitOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { isWithheld, nextFree, withheldFrom } from "./withheld.ts";

interface At {
  readonly plan: Plan;
  readonly entry: NodeEntry;
  readonly window: Window;
}

/** A later instant before which the node cannot take a first member, for a cause that it has in the window. */
export function firstFrom(at: At, cause: Cause): number {
  const { start, end } = at.window;
  if (cause === "MAINTENANCE") {
    return at.entry.node.maintenance
      .filter((m) => m.start < end && m.end > start)
      .reduce((clear, m) => Math.max(clear, m.end), start);
  }
  return cause === "SCALAR" ? scalarsFrom(at, 1) : unitsFrom(at, 1);
}

/** The same for one member more than the `members` that it takes in the window; Infinity for never. */
export function moreFrom(at: At, members: number): number {
  const { plan, entry, window } = at;
  // A whole node is taken once.
  if (plan.whole || members >= plan.size) return Number.POSITIVE_INFINITY;
  const fit = fitOf(plan, entry);
  const free = freeUnits({ plan, entry, fit }, window);
  const ask = { most: plan.size, search: plan.search };
  const unitsLack = membersMost(fit.demand, free, ask) <= members;
  const scalarsLack = scalarsMost(plan, entry, window) <= members;
  return Math.max(
    unitsLack ? unitsFrom(at, members + 1) : window.start,
    scalarsLack ? scalarsFrom(at, members + 1) : window.start,
  );
}

/** For some scalar the use is too high in the window: until all that is too high in it is over. */
function scalarsFrom({ plan, entry, window }: At, members: number): number {
  let clear = window.start;
  for (const { scalar, amount } of asksOf(plan, entry)) {
    const limit = entry.node.scalars[scalar] - amount * members;
    if (limit < 0) return Number.POSITIVE_INFINITY;
    const use = entry.scalarUse.get(scalar)?.all;
    if (use) clear = Math.max(clear, use.clearAfter(window.start, window.end, limit));
  }
  return clear;
}

/**
 * At least as many more units as are missing have to become free, so not before the last of the soonest
 * of them; when none is missing (the free ones are the wrong ones) not before one more becomes free.
 */
function unitsFrom({ plan, entry, window }: At, members: number): number {
  const fit = fitOf(plan, entry);
  let free = 0;
  const later: number[] = [];
  for (let i = 0; i < fit.places.length; i += 1) {
    const place = fit.places[i] as number;
    if (fit.masks[i] === 0 || entry.usable[place] === 0) continue;
    const from = nextFree({ entry, place }, window, plan.request);
    if (from === window.start) free += 1;
    else later.push(from);
  }
  const missing = Math.max(1, fit.wanted * members - free);
  if (missing > later.length) return Number.POSITIVE_INFINITY;
  // Whoever wants all of a node waits for the last: no order is needed.
  if (missing === later.length) return Math.max(...later);
  return later.sort((a, b) => a - b)[missing - 1] ?? Number.POSITIVE_INFINITY;
}

/** The first instant at which a window of this length may leave room for fewer than `members`; Infinity for never. */
export function sureUntil({ plan, entry, window }: At, members: number): number {
  const { end } = window;
  let first = Number.POSITIVE_INFINITY;
  const begins = (start: number): void => {
    if (start >= end && start < first) first = start;
  };
  const fit = fitOf(plan, entry);
  fit.places.forEach((place, i) => {
    if (fit.masks[i] === 0 || entry.usable[place] === 0) return;
    begins(entry.calendar.nextStart(place, end));
    const at = { entry, place };
    if (entry.terms === null || isWithheld(at, window, plan.request)) return;
    begins(withheldFrom(at, end, plan.request));
  });
  for (const m of entry.node.maintenance) begins(m.start);
  for (const { scalar, amount } of asksOf(plan, entry)) {
    const limit = entry.node.scalars[scalar] - amount * members;
    begins(entry.scalarUse.get(scalar)?.all.firstAbove(end, limit) ?? Number.POSITIVE_INFINITY);
  }
  // What starts right where the window ends touches it from the next instant on.
  return first - (end - window.start) + 1;
}
