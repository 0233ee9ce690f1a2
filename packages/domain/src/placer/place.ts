/**
 * Finds room for a request: walks the nodes by id, asks each for the first filter that rules it out
 * (`fit.ts`), keeps the best (`score.ts`) and picks their units (`choose.ts`). When no node is left, says
 * why (`reason.ts`). The same state and request give the same answer; equal scores go to the lower id.
 */
import type { NodeId, UnitId } from "../ids.ts";
import type { PlaceRequest, Scalar } from "../model.ts";
import type { Cause, Reason } from "../refusal.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import { chooseUnits } from "./choose.ts";
import { causeOf, scarceScalars } from "./fit.ts";
import { fitOf, planOf, scoredMost } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { reasonOf } from "./reason.ts";
import { bestScore, scoreOf } from "./score.ts";

const CANDIDATES_MAX = 10;

/** A node that can take the whole request, and the units that it would give. */
export interface Candidate {
  readonly nodeId: NodeId;
  readonly nodeName: string;
  /** In the node's order of units. */
  readonly unitIds: readonly UnitId[];
  /** In [0, 1], higher is better. */
  readonly score: number;
}

/** Candidates are on different nodes, best first, at least one. */
export type Placement =
  | { readonly fits: true; readonly candidates: readonly Candidate[] }
  | { readonly fits: false; readonly reason: Reason };

/** @param options at most `candidatesMax` candidates, 1 to 10; fewer cost less */
export function place(
  state: PoolState,
  request: PlaceRequest,
  options: { readonly candidatesMax?: number } = {},
): Placement {
  const plan = planOf(state, request);
  const top = new Top(Math.min(CANDIDATES_MAX, options.candidatesMax ?? CANDIDATES_MAX));
  const unbeatable = bestScore(plan.policy, scoredMost(state, plan), plan.scoredWanted);
  const counts = new Map<Cause, number>();
  const scarce = new Set<Scalar>();
  for (const entry of state.entries) {
    const cause = causeOf(plan, entry, request);
    if (cause === null) {
      top.offer(entry, nodeScore(plan, entry));
      if (top.worst >= unbeatable) break;
      continue;
    }
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
    if (cause !== "SCALAR") continue;
    for (const scalar of scarceScalars(plan, entry, request)) scarce.add(scalar);
  }
  if (top.list.length === 0) {
    return { fits: false, reason: reasonOf(plan, { nodes: state.nodeCount, counts, scarce }) };
  }
  const candidates = top.list.map(({ entry, score }) => {
    const { id: nodeId, name: nodeName } = entry.node;
    return { nodeId, nodeName, unitIds: chooseUnits(plan, entry, request), score };
  });
  return { fits: true, candidates };
}

/** Right after `causeOf` found that the node fits: `plan.units` still holds its free units. */
function nodeScore(plan: Plan, entry: NodeEntry): number {
  const total = fitOf(plan, entry).scoredTotal;
  const whole = entry.calendar.size === 0 && entry.faulty === 0;
  const free = whole ? total : plan.units.scored;
  return scoreOf(plan.policy, { free, total }, plan.scoredWanted);
}

/** The best few, in order; among equals the first one offered stays ahead. */
class Top {
  readonly list: { readonly entry: NodeEntry; readonly score: number }[] = [];
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** What a newcomer has to beat; below every score while there is room. */
  get worst(): number {
    return this.list.length < this.#max ? -1 : (this.list.at(-1)?.score ?? -1);
  }

  offer(entry: NodeEntry, score: number): void {
    if (score <= this.worst) return;
    let at = this.list.length;
    while (at > 0 && (this.list[at - 1]?.score ?? 0) < score) at -= 1;
    this.list.splice(at, 0, { entry, score });
    if (this.list.length > this.#max) this.list.pop();
  }
}
