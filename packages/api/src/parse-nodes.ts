/**
 * Validates what `fleet.putNodes` is given node by node, and lets other calls have their turn in between: all of a
 * full report at once takes a quarter of a second, and one in which everything is wrong takes more.
 */
import { setImmediate } from "node:timers/promises";
import { ISSUES_MAX, type Input, LIMITS, putNodesParts } from "@berth/contract";
import { z } from "zod";

/** Milliseconds of work between two turns of the event loop. */
const TURN_MS = 5;
const { around, node, together } = putNodesParts;

/** The input as its schema gives it. @throws z.ZodError with the first issues, in the order of the nodes */
export async function parseNodes(raw: unknown): Promise<Input<"fleet.putNodes">> {
  const call = around.safeParse(raw);
  const given = call.success ? call.data.nodes : nodesOf(raw);
  const issues: z.core.$ZodIssue[] = call.success ? [] : [...call.error.issues];
  const nodes: z.infer<typeof node>[] = [];
  let since = performance.now();
  for (const [at, one] of given.entries()) {
    const parsed = node.safeParse(one);
    if (parsed.success) nodes.push(parsed.data);
    else
      for (const issue of parsed.error.issues)
        issues.push({ ...issue, path: ["nodes", at, ...issue.path] });
    if (issues.length >= ISSUES_MAX) break;
    if (performance.now() - since < TURN_MS) continue;
    await setImmediate();
    since = performance.now();
  }
  if (!call.success || issues.length > 0) throw new z.ZodRealError(issues);
  return together.parse({ ...call.data, nodes });
}

/** Of a call that is wrong in itself the nodes are looked at all the same, as many as there may be. */
function nodesOf(raw: unknown): readonly unknown[] {
  const nodes = typeof raw === "object" && raw !== null && "nodes" in raw ? raw.nodes : [];
  return Array.isArray(nodes) ? nodes.slice(0, LIMITS.nodesPerCall) : [];
}
