/**
 * When a request first fits, several members: `earliest-gang.ts`. A node's answer can only change to yes where something on it ends, so each
 * node leaps from its asked start over instants at which too little of it can be free, and nodes that
 * cannot beat the best instant so far are left. The search goes out in spans of time: when its steps are
 * used up, everything before the last whole span is known for certain, and the answer says so.
 */
import { DAY_MS } from "../model.ts";
import type { PlaceRequest } from "../model.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import { exactly, through } from "../steps.ts";
import { gangSteps } from "./earliest-gang.ts";
import { asksScalars, lacksScalar } from "./fit.ts";
import { Judge } from "./judge.ts";
import type { Verdict } from "./judge.ts";
import { firstFrom } from "./later.ts";
import { planOf } from "./plan.ts";
import type { Plan } from "./plan.ts";

export interface EarliestStart {
  /**
   * The first instant at or after the asked start at which the request fits, exactly; null when there is
   * none up to and including `searchedTo`.
   */
  readonly at: number | null;
  readonly searchedTo: number;
}

export interface EarliestStartOptions {
  /** The last instant at which the request may start. */
  readonly horizonEnd: number;
  /** Looks at one node at one instant; a search that needs more ends early. */
  readonly stepBudget?: number;
  /** As for `place`. */
  readonly showWithheld?: boolean | undefined;
}

const STEP_BUDGET = 400_000;
const STEPS_A_YIELD = 128;
/** How far after the asked start each span of the search reaches. */
const SPANS = [0, DAY_MS / 24, DAY_MS / 4, DAY_MS, 7 * DAY_MS, 30 * DAY_MS] as const;

export function earliestStart(
  state: PoolState,
  request: PlaceRequest,
  options: EarliestStartOptions,
): EarliestStart {
  return through(earliestStartSteps(state, request, options));
}

/**
 * The same search, pausing every hundred steps (well under 5 ms) so that a caller can let others
 * run. When the state changed during a pause, it begins anew and then runs through without a pause, so
 * the answer is always exact for the state that the caller has in its hands.
 */
export function* earliestStartSteps(
  state: PoolState,
  request: PlaceRequest,
  options: EarliestStartOptions,
): Generator<void, EarliestStart, void> {
  return yield* exactly(state, () => searchSteps(state, request, options));
}

function* searchSteps(
  state: PoolState,
  request: PlaceRequest,
  options: EarliestStartOptions,
): Generator<void, EarliestStart, void> {
  const { horizonEnd, stepBudget = STEP_BUDGET } = options;
  const plan = planOf(state, request, options);
  if (plan.size > 1) return yield* gangSteps(state, plan, { horizonEnd, stepBudget });
  /** For each node: it does not fit before this. */
  const judge = new Judge<Verdict>(state, plan, (cause) => ({ cause, nodes: 0 }));
  const notBefore = new Float64Array(state.nodeCount);
  for (let i = 0; i < notBefore.length; i += 1)
    notBefore[i] = judge.isHopeless(i) ? Number.POSITIVE_INFINITY : request.start;
  let searchedTo = request.start;
  let steps = 0;
  // Out of steps over domains, "does not fit" is no longer certain.
  if (plan.search.stepsLeft <= 0) return { at: null, searchedTo };
  for (const limit of limits(request.start, horizonEnd)) {
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < notBefore.length; i += 1) {
      while ((notBefore[i] as number) <= limit && (notBefore[i] as number) < best) {
        if (steps >= stepBudget) return { at: null, searchedTo };
        steps += 1;
        if (steps % STEPS_A_YIELD === 0) yield;
        const at = notBefore[i] as number;
        const next = nextTry({ plan, judge, entry: state.entries[i] as NodeEntry }, i, at);
        if (plan.search.stepsLeft <= 0) return { at: null, searchedTo };
        if (next === at) best = at;
        else notBefore[i] = next;
      }
    }
    if (best <= limit) return { at: best, searchedTo: best };
    searchedTo = limit;
  }
  return { at: null, searchedTo: horizonEnd };
}

function limits(start: number, horizonEnd: number): number[] {
  if (start > horizonEnd) return [];
  const inside = SPANS.map((span) => start + span).filter((limit) => limit < horizonEnd);
  return [...inside, horizonEnd];
}

/** `at` itself when the node fits there; else a later instant before which it cannot. */
function nextTry(
  of: { readonly plan: Plan; readonly judge: Judge<Verdict>; readonly entry: NodeEntry },
  place: number,
  at: number,
): number {
  const { plan, judge, entry } = of;
  const { request } = plan;
  const window =
    at === request.start ? request : { start: at, end: at + request.end - request.start };
  const { cause } = judge.look(place, window);
  if (cause !== null) return firstFrom({ plan, entry, window }, cause);
  if (!asksScalars(plan) || !lacksScalar(plan, entry, window)) return at;
  return firstFrom({ plan, entry, window }, "SCALAR");
}
