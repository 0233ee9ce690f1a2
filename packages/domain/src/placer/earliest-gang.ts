/**
 * When several members first fit together. What a topology domain takes can only grow where something on
 * one of its nodes ends, so a sweep goes from instant to instant at which some node may take more. For each
 * node it keeps the number that it took when it was last looked at, which is no less than what it takes
 * until it may take more; only where these numbers reach the size are the nodes looked at again whose
 * number may have fallen since.
 */
import type { NodeEntry } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { EarliestStart } from "./earliest-start.ts";
import { causeOf, healthyEnough, healthyUnits, lastingCause } from "./fit.ts";
import { domainValue, gangFits, mostOn } from "./gang.ts";
import { Heap } from "./heap.ts";
import type { Heaped } from "./heap.ts";
import { firstFrom, moreFrom, sureUntil } from "./later.ts";
import { membersMost } from "./members.ts";
import { fitOf } from "./plan.ts";
import type { Plan } from "./plan.ts";

/** A look at a node with several members costs more than one with one. */
const STEPS_A_YIELD = 128;

interface Spot extends Heaped {
  readonly entry: NodeEntry;
  readonly domain: Domain;
  /** Members, at most, before the instant at which it may be more. */
  most: number;
  moreFrom: number;
  /** Before this it takes no fewer. */
  sureUntil: number;
}

interface Domain {
  readonly spots: Spot[];
  /** Sum of `most`. */
  room: number;
}

/** What is given up on when it is used up. */
interface Budget {
  steps: number;
}

export function* gangSteps(
  state: PoolState,
  plan: Plan,
  options: { readonly horizonEnd: number; readonly stepBudget: number },
): Generator<void, EarliestStart, void> {
  const { horizonEnd } = options;
  const { start } = plan.request;
  const budget = { steps: options.stepBudget };
  if (start > horizonEnd) return { at: null, searchedTo: horizonEnd };
  // Mostly the answer, and found without a look at what comes later.
  if (gangFits(state, plan)) return { at: start, searchedTo: start };
  yield;
  const domains = yield* domainsOf(state, plan, budget);
  if (isSpent(plan, budget)) return { at: null, searchedTo: start };
  const heap = new Heap<Spot>((spot) => spot.moreFrom);
  for (const { spots } of domains) for (const spot of spots) heap.push(spot);
  let at = start;
  while (at <= horizonEnd) {
    const touched = new Set<Domain>();
    for (let spot = heap.first(); spot && spot.moreFrom <= at; spot = heap.first()) {
      yield* pause(budget);
      if (isSpent(plan, budget)) return { at: null, searchedTo: Math.max(start, at - 1) };
      look(plan, spot, at);
      heap.settle(spot);
      touched.add(spot.domain);
    }
    for (const domain of touched) {
      const fits = yield* takesAll(plan, { domain, heap, at }, budget);
      if (isSpent(plan, budget)) return { at: null, searchedTo: Math.max(start, at - 1) };
      if (fits) return { at, searchedTo: at };
    }
    at = heap.first()?.moreFrom ?? Number.POSITIVE_INFINITY;
  }
  return { at: null, searchedTo: horizonEnd };
}

function* pause(budget: Budget): Generator<void, void, void> {
  budget.steps -= 1;
  if (budget.steps % STEPS_A_YIELD === 0) yield;
}

/** Out of steps over NVLink domains, "does not fit" is no longer certain. */
function isSpent(plan: Plan, budget: Budget): boolean {
  return budget.steps < 0 || plan.search.stepsLeft <= 0;
}

/** Domains that could take the whole gang if nothing were booked, without nodes that never take a member. */
function* domainsOf(state: PoolState, plan: Plan, budget: Budget): Generator<void, Domain[], void> {
  const byValue = new Map<string, Domain>();
  const moreAt = plan.request.start;
  for (const entry of state.entries) {
    yield* pause(budget);
    const value = domainValue(plan, entry);
    const empty = value === null ? 0 : emptyMost(plan, entry);
    if (value === null || empty === 0) continue;
    const domain = byValue.get(value) ?? { spots: [], room: 0 };
    byValue.set(value, domain);
    domain.spots.push({ entry, domain, most: 0, moreFrom: moreAt, sureUntil: 0, place: 0 });
    domain.room += empty;
  }
  const large = [...byValue.values()].filter(({ room }) => room >= plan.size);
  for (const domain of large) domain.room = 0;
  return large;
}

/** Members that the node takes when nothing is booked: never more. */
function emptyMost(plan: Plan, entry: NodeEntry): number {
  const fit = fitOf(plan, entry);
  if (lastingCause(plan, entry, fit) !== null || !healthyEnough(plan, entry, fit)) return 0;
  if (plan.whole) return 1;
  let most = plan.size;
  for (const { scalar, amount } of plan.asks)
    most = Math.min(most, Math.floor(entry.node.scalars[scalar] / amount));
  return membersMost(fit.demand, healthyUnits(plan, entry, fit), { most, search: plan.search });
}

/** Finds what the node takes at the instant, exactly. */
function look(plan: Plan, spot: Spot, at: number): void {
  const { entry, domain } = spot;
  const window = { start: at, end: at + plan.request.end - plan.request.start };
  const cause = causeOf(plan, entry, window);
  const most = cause === null ? mostOn(plan, entry, window) : 0;
  domain.room += most - spot.most;
  spot.most = most;
  const here = { plan, entry, window };
  spot.moreFrom = cause === null ? moreFrom(here, most) : firstFrom(here, cause);
  spot.sureUntil = most === 0 ? Number.POSITIVE_INFINITY : sureUntil(here, most);
}

/** Looks again at nodes whose number may have fallen, as long as the rest could be enough. */
function* takesAll(
  plan: Plan,
  on: { readonly domain: Domain; readonly heap: Heap<Spot>; readonly at: number },
  budget: Budget,
): Generator<void, boolean, void> {
  const { domain, heap, at } = on;
  if (domain.room < plan.size) return false;
  for (const spot of domain.spots) {
    if (spot.sureUntil > at) continue;
    yield* pause(budget);
    if (isSpent(plan, budget)) return false;
    look(plan, spot, at);
    heap.settle(spot);
    if (domain.room < plan.size) break;
  }
  return domain.room >= plan.size;
}
