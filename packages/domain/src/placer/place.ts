/**
 * Finds room for a request: walks the nodes by id, asks each for the first filter that rules it out
 * (`fit.ts`), keeps the best (`score.ts`, several members: `gang.ts`) and picks their units (`choose.ts`).
 * When no node is left, says why (`reason.ts`). The same state and request give the same answer; equal
 * scores go to the lower id.
 */
import type { NodeId, UnitId } from "../ids.ts";
import type { PlaceRequest } from "../model.ts";
import type { Reason } from "../refusal.ts";
import type { SeenNode } from "../state/node-entry.ts";
import type { PoolView } from "../state/pool-view.ts";
import { chooseUnits } from "./choose.ts";
import { isPlain } from "./fit.ts";
import { placeGang } from "./gang.ts";
import { bestScore, scoreOn, tieOn } from "./growth.ts";
import { countsOf, Judge, Lacking } from "./judge.ts";
import type { Verdict } from "./judge.ts";
import { gpusTaken, wholeScore } from "./node-binding.ts";
import { fitOf, planOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { reasonOf } from "./reason.ts";
import { CHOICE_ENOUGH, Shortlist } from "./shortlist.ts";
import type { Tie } from "./shortlist.ts";

const CANDIDATES_MAX = 10;

/** A node that can take a whole member, and the units that it would give. */
export interface Candidate {
  readonly nodeId: NodeId;
  readonly nodeName: string;
  /** In the node's order of units. */
  readonly unitIds: readonly UnitId[];
  /** In [0, 1], higher is better. */
  readonly score: number;
}

export type Placement =
  | {
      readonly fits: true;
      /**
       * For one member: different nodes, best first, at least one. For several (a gang, several whole nodes):
       * the members of the best choice, by node.
       */
      readonly candidates: readonly Candidate[];
      /** What a booking takes, an entry a member or node. */
      readonly members: readonly Candidate[];
    }
  | { readonly fits: false; readonly reason: Reason };

export interface PlaceOptions {
  /** At most so many candidates for one member, 1 to 10; fewer cost less. */
  readonly candidatesMax?: number | undefined;
  /** Whether the asker may learn that units are withheld from it; to others they are booked. */
  readonly showWithheld?: boolean | undefined;
  /** Of whole nodes those with the fewest GPUs, instead of those with the best score. */
  readonly fewestGpus?: boolean | undefined;
}

export function place(
  state: PoolView,
  request: PlaceRequest,
  options: PlaceOptions = {},
): Placement {
  const plan = planOf(state, request, options);
  if (plan.size === 1) return placeOne(state, plan, options);
  const found = placeGang(state, plan, options);
  if (!found.fits) return { fits: false, reason: reasonOf(plan, found.findings, options) };
  const members = found.members.map(({ entry, unitIds, score }) => {
    return { nodeId: entry.node.id, nodeName: entry.node.name, unitIds, score };
  });
  return { fits: true, candidates: members, members };
}

function placeOne(state: PoolView, plan: Plan, options: PlaceOptions): Placement {
  const { request } = plan;
  const choice = plan.whole || plan.policy === "spread" ? Infinity : CHOICE_ENOUGH;
  const best = new Shortlist<SeenNode>(bestScore(state, plan), choice);
  const verdicts: Roomy[] = [];
  const judge = new Judge<Roomy>(state, plan, (cause, entry) => {
    const free = cause === null && !plan.whole ? freeFor(plan, entry) : 0;
    const rank = cause === null && plan.whole ? rankOf(entry, options) : 0;
    const verdict = { cause, nodes: 0, free, rank };
    verdicts.push(verdict);
    return verdict;
  });
  const lacking = new Lacking(plan);
  for (let at = 0; at < state.entries.length; at += 1) {
    const verdict = judge.look(at, request);
    if (verdict.cause !== null) {
      verdict.nodes += 1;
      if (verdict.cause === "SCALAR") lacking.name(state.entries[at] as SeenNode);
      continue;
    }
    const entry = state.entries[at] as SeenNode;
    if (lacking.has(entry)) continue;
    best.offer(entry, plan.whole ? verdict.rank : scoreOn(plan, entry, verdict.free));
    if (best.isSettled) break;
  }
  if (best.isEmpty) {
    const counts = countsOf(verdicts, lacking);
    const findings = { nodes: state.nodeCount, counts, scarce: lacking.scalars, gang: null };
    return { fits: false, reason: reasonOf(plan, findings, options) };
  }
  const most = Math.min(CANDIDATES_MAX, options.candidatesMax ?? CANDIDATES_MAX);
  const ranked = best.ranked(most, (entry) => tieOf(plan, entry));
  const candidates = ranked.map(({ item: entry, score }) => {
    const { id: nodeId, name: nodeName } = entry.node;
    const unitIds = chooseUnits(plan, entry, request);
    return { nodeId, nodeName, unitIds, score: plan.whole ? wholeScore(entry) : score };
  });
  return { fits: true, candidates, members: candidates.slice(0, 1) };
}

interface Roomy extends Verdict {
  /** Units of the score's kind that are free for the whole window, on each of the nodes that it is of. */
  readonly free: number;
  /** Of whole nodes, the better the higher: the same for all of one make. */
  readonly rank: number;
}

/** Right after it was found that the node fits: `plan.units` still holds its free units. */
function freeFor(plan: Plan, entry: SeenNode): number {
  return isPlain(entry) ? fitOf(plan, entry).scoredTotal : plan.units.scored;
}

function rankOf(entry: SeenNode, { fewestGpus = false }: PlaceOptions): number {
  return fewestGpus ? -gpusTaken(entry) : wholeScore(entry);
}

const NO_TIE: Tie = { slack: 0, free: 0 };

function tieOf(plan: Plan, entry: SeenNode): Tie {
  return plan.whole || plan.policy === "spread" ? NO_TIE : tieOn(plan, entry, plan.request);
}
