/**
 * The pages of a large list of nodes, in the order that shows the most first. A page holds some 2,500 spans, so a
 * thousand busy nodes are seventy pages, one after the other: the first one is given at once, then all nodes at a
 * glance, which are few pages as only one moment is asked about, then the rest.
 */
import type { ListNodesInput, NodePage, NodeSchedule } from "@berth/client";
import type { NodesRead, NodesSoFar } from "./nodes-so-far.ts";

/** More would not be looked at, and no page would hold them. */
const NODES_MAX = 5_000;
/** Pages that come within this long are shown together: each showing is work of its own. */
const GATHER_MS = 400;
/** How long the moment is that is glanced at. */
const MOMENT_MS = 1_000;

/** Answers the pages of `fleet.listNodes`. */
export type AskNodes = (input: ListNodesInput) => AsyncIterable<NodePage>;

/** What is in the cache of `fleet.listNodes`. */
export type KnownNodes = readonly (readonly [readonly unknown[], NodesSoFar | undefined])[];

/** @param known the same nodes as they were in another window, for a glance that needs no question */
export async function* nodePages(
  ask: AskNodes,
  input: ListNodesInput,
  known: readonly NodeSchedule[] | null,
): AsyncGenerator<NodesRead, void, undefined> {
  let isFirst = true;
  let count = 0;
  let waiting: NodeSchedule[] = [];
  let since = performance.now();
  for await (const { nextCursor, nodes } of ask(input)) {
    count += nodes.length;
    waiting.push(...nodes);
    const isLast = nextCursor === null || count >= NODES_MAX;
    if (isFirst || isLast || performance.now() - since >= GATHER_MS) {
      yield { nodes: waiting, atGlance: false, isLast };
      waiting = [];
      since = performance.now();
    }
    if (isLast) return;
    if (isFirst) yield* known === null ? glance(ask, input) : seen(known);
    isFirst = false;
  }
}

async function* seen(nodes: readonly NodeSchedule[]): AsyncGenerator<NodesRead> {
  yield { nodes, atGlance: true, isLast: true };
}

/** At the present moment, or where that is not in the time asked about at its beginning. */
async function* glance(ask: AskNodes, input: ListNodesInput): AsyncGenerator<NodesRead> {
  const now = Date.now();
  const { from = now, to = Infinity } = input;
  const at = from <= now && now < to ? now : from;
  let count = 0;
  for await (const { nextCursor, nodes } of ask({ ...input, from: at, to: at + MOMENT_MS })) {
    count += nodes.length;
    const isLast = nextCursor === null || count >= NODES_MAX;
    yield { nodes, atGlance: true, isLast };
    if (isLast) return;
  }
}

/** The same nodes of another window, read to their end; null when there are none. */
export function knownOf(cache: KnownNodes, input: ListNodesInput): readonly NodeSchedule[] | null {
  const subject = subjectOf(input);
  const whole = cache.flatMap(([key, data]) => {
    const isSame = key.at(-1) === "all" && subjectOf(key.at(-2) as ListNodesInput) === subject;
    return isSame && data?.isWhole === true ? [data.nodes] : [];
  });
  return whole.at(-1) ?? null;
}

function subjectOf({ tenantId, poolId, siteId }: ListNodesInput): string {
  return JSON.stringify([tenantId, poolId ?? null, siteId ?? null]);
}
