/**
 * The nodes behind a cause of a reason, found by what the map knows: their states, windows and spans. The placer knows
 * more (selectors, scalars, the topology as a whole); of causes that only it can tell, all nodes are shown.
 */
import type { NodeSchedule, UnitSchedule } from "@berth/client";

/** What was asked for when the reason was given. */
export interface CauseAsk {
  readonly start: number;
  readonly end: number;
  /** GPUs of one node. */
  readonly gpus: number;
}

type Test = (node: NodeSchedule, ask: CauseAsk) => boolean;

/** In the placer's order: each node is counted under the first that holds. */
const TESTS: readonly (readonly [string, Test])[] = [
  ["COUNT", (node, { gpus }) => gpusOf(node).length < gpus],
  ["NODE_STATE", ({ state }) => state !== "ready"],
  [
    "MAINTENANCE",
    ({ maintenance }, { start, end }) =>
      maintenance.some(({ from, to }) => from < end && to > start),
  ],
  ["UNHEALTHY", (node, { gpus }) => healthy(node).length < gpus],
  ["WITHHELD", (node, ask) => healthy(node).filter((gpu) => isOpen(gpu, ask)).length < ask.gpus],
  ["BUSY", (node, ask) => healthy(node).filter((gpu) => isFree(gpu, ask)).length < ask.gpus],
  // Takes a member, but not enough nodes do.
  ["GANG", () => true],
];

/** Causes that the map cannot tell by itself. */
export function isTold(cause: string): boolean {
  return TESTS.some(([name]) => name === cause);
}

/** Whether a node is ruled out by this cause and by none before it. */
export function isRuledOut(cause: string, node: NodeSchedule, ask: CauseAsk): boolean {
  if (!isTold(cause)) return true;
  return TESTS.find(([, test]) => test(node, ask))?.[0] === cause;
}

function gpusOf({ units }: NodeSchedule): UnitSchedule[] {
  return units.filter((unit) => unit.class === "gpu");
}

function healthy(node: NodeSchedule): UnitSchedule[] {
  return gpusOf(node).filter((gpu) => gpu.healthy);
}

function isOpen({ spans }: UnitSchedule, { start, end }: CauseAsk): boolean {
  return spans.every((span) => span.kind !== "withheld" || span.start >= end || span.end <= start);
}

function isFree({ spans }: UnitSchedule, { start, end }: CauseAsk): boolean {
  return spans.every((span) => span.start >= end || span.end <= start);
}
