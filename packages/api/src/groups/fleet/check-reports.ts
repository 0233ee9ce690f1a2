/** What is wrong with reports of nodes beside the site's other nodes. */
import type { Input } from "@berth/contract";
import type { InputIssue, NodeId, PutNodesAsk } from "@berth/domain";
import type { Call } from "../../call.ts";
import { fromIssues } from "../../errors.ts";
import { type HeldGpu, gpusOfSite } from "./store.ts";

export type Reported = Pick<PutNodesAsk["nodes"][number], "id" | "report">;

/**
 * Answers the nodes of the call that give a GPU up to another one of the call.
 * @throws ApiError INVALID_INPUT naming the record
 */
export async function checkReports(
  call: Call,
  input: Input<"fleet.putNodes">,
  nodes: readonly Reported[],
): Promise<NodeId[]> {
  const bringers = new Map(
    nodes.flatMap(({ id, report }) => (report.gpus ?? []).map(({ uuid }) => [uuid, id] as const)),
  );
  const held = await gpusOfSite(call.deps.db, input.siteId, [...bringers.keys()]);
  const moving = held.filter(({ uuid, nodeId }) => bringers.get(uuid) !== nodeId);
  const reported = new Set(nodes.map(({ id }) => id));
  const elsewhere = gpusElsewhere(
    input,
    moving.filter(({ nodeId }) => !reported.has(nodeId)),
  );
  if (elsewhere.length > 0) throw fromIssues(elsewhere);
  return [...new Set(moving.map(({ nodeId }) => nodeId))];
}

/** A GPU that another node of the site has, unless this very call reports that node without it. */
function gpusElsewhere(input: Input<"fleet.putNodes">, held: readonly HeldGpu[]): InputIssue[] {
  const holders = new Map(held.map(({ uuid, nodeName }) => [uuid, nodeName]));
  return input.nodes.flatMap(({ name, gpus = [] }, at) =>
    gpus.flatMap(({ uuid }, i): InputIssue[] => {
      const holder = holders.get(uuid);
      if (holder === undefined) return [];
      const message = `node ${name}: GPU ${uuid} is on node ${holder} already`;
      return [{ path: ["nodes", at, "gpus", i, "uuid"], message }];
    }),
  );
}
