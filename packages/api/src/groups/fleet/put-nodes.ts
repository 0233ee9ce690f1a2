/** Takes in nodes of a site as they are reported: one gated write a pool. */
import type { Input } from "@berth/contract";
import {
  type GateId,
  type InputIssue,
  type NodeId,
  type PoolId,
  type PutNode,
  type PutNodesAsk,
  checkNodes,
  moveNode,
  nodeIdOf,
  putNodes as rule,
  reportIssues,
} from "@berth/domain";
import type { Call, Handler, TenantScope } from "../../call.ts";
import { fromIssues, fromRefusal, notFound } from "../../errors.ts";
import { derivedId } from "../../ids.ts";
import { visiblePool } from "../../visibility.ts";
import { type NodePlace, gpusOfSite, nodePlaces } from "./store.ts";

type PutNodesInput = Input<"fleet.putNodes">;
type Reported = PutNodesAsk["nodes"][number];

/** Gates that are written at once: nodes in no pool have one each. */
const GATES_AT_ONCE = 8;

export const putNodes: Handler<"fleet.putNodes"> = {
  async run(call, input, scope) {
    const { db } = call.deps;

    // 1. The pool to join is the site's owner's.
    if (input.poolId) {
      const pool = await visiblePool(call, scope, input.poolId);
      if (!pool?.owned) throw notFound("the pool is not the site's owner's");
    }

    // 2. Nothing is wrong with the reports taken together, nor beside the site's other nodes.
    const nodes = input.nodes.map((report): Reported => ({
      id: nodeIdOf(input.siteId, report.name, derivedId),
      report,
    }));
    await checkReports(call, input, nodes);

    // 3. Which gate each goes through; every gate can take its part before the first is written.
    const places = await nodePlaces(
      db,
      nodes.map(({ id }) => id),
    );
    const byGate = Map.groupBy(nodes, ({ id }) => gateOf(id, places.get(id), input.poolId));
    const asks = [...byGate].map(([gateId, part]) => ({
      gateId,
      ask: { siteId: input.siteId, ownerId: scope.tenantId, nodes: part, derive: derivedId },
    }));
    await eachOf(asks, (one) => checkGate(call, one));

    // 4. Nodes in no pool join, then each gate is written once.
    const joining = nodes.filter(({ id }) => input.poolId && places.get(id)?.poolId === null);
    await eachOf(joining, ({ id }) => join(call, scope, { id, poolId: input.poolId }));
    const done = new Map<NodeId, PutNode>();
    await eachOf(asks, async (one) => {
      for (const put of await writeGate(call, one, places)) done.set(put.id, put);
    });

    // 5. The answer, in the order given; joining a pool is a change.
    const joined = new Set(joining.map(({ id }) => id));
    return {
      nodes: nodes.flatMap(({ id }) => {
        const put = done.get(id);
        return put ? [joined.has(id) ? { ...put, outcome: "changed" as const } : put] : [];
      }),
    };
  },
};

/** A registered node stays where it is, but one in no pool joins the pool that was named. */
function gateOf(id: NodeId, place: NodePlace | undefined, poolId: PoolId | undefined): GateId {
  return place?.poolId ?? poolId ?? id;
}

async function checkReports(
  call: Call,
  input: PutNodesInput,
  nodes: readonly Reported[],
): Promise<void> {
  const issues = reportIssues(input.nodes);
  if (issues.length > 0) throw fromIssues(issues);
  const elsewhere = await gpusElsewhere(call, input, nodes);
  if (elsewhere.length > 0) throw fromIssues(elsewhere);
}

/** A GPU that another node of the site has, unless this very call reports that node without it. */
async function gpusElsewhere(
  call: Call,
  input: PutNodesInput,
  nodes: readonly Reported[],
): Promise<InputIssue[]> {
  const uuids = input.nodes.flatMap(({ gpus = [] }) => gpus.map(({ uuid }) => uuid));
  const held = await gpusOfSite(call.deps.db, input.siteId, uuids);
  const reported = new Set(nodes.map(({ id }) => id));
  const holders = new Map(
    held.filter(({ nodeId }) => !reported.has(nodeId)).map((gpu) => [gpu.uuid, gpu.nodeName]),
  );
  return input.nodes.flatMap(({ name, gpus = [] }, at) =>
    gpus.flatMap(({ uuid }, i): InputIssue[] => {
      const holder = holders.get(uuid);
      if (holder === undefined) return [];
      const message = `node ${name}: GPU ${uuid} is on node ${holder} already`;
      return [{ path: ["nodes", at, "gpus", i, "uuid"], message }];
    }),
  );
}

interface GatePart {
  readonly gateId: GateId;
  readonly ask: PutNodesAsk;
}

/** A gate that is not there yet is a new node's own, which takes it. */
async function checkGate(call: Call, { gateId, ask }: GatePart): Promise<void> {
  const found = await call.deps.engine.read(gateId, (state, now) => checkNodes(state, now, ask));
  if (found && !found.value.ok) throw fromRefusal(found.value.refusal);
}

async function join(
  call: Call,
  scope: TenantScope,
  { id, poolId }: { id: NodeId; poolId: PoolId | undefined },
): Promise<void> {
  if (poolId === undefined) return;
  const ask = { nodeId: id, ownerId: scope.tenantId };
  const moved = await call.deps.engine.move({
    from: id,
    to: poolId,
    create: false,
    plan: (from, to) => moveNode(from, to, ask),
  });
  if (!moved.value.ok) throw fromRefusal(moved.value.refusal);
}

async function writeGate(
  call: Call,
  { gateId, ask }: GatePart,
  places: ReadonlyMap<NodeId, NodePlace>,
): Promise<readonly PutNode[]> {
  const committed = await call.deps.engine.submit(gateId, {
    name: call.method,
    tenantId: ask.ownerId,
    signal: call.signal,
    create: ask.nodes.some(({ id }) => id === gateId && !places.has(id)),
    plan: (turn) => rule(turn, ask),
  });
  if (!committed.value.ok) throw fromRefusal(committed.value.refusal);
  return committed.value.value;
}

/** Runs over all, a few at a time; the first failure stops what has not begun. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
      try {
        await work(next);
      } catch (error) {
        rest.length = 0;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: GATES_AT_ONCE }, worker));
}
