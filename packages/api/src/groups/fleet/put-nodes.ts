/** Takes in nodes of a site as they are reported: one gated write a pool. */
import type { Input } from "@berth/contract";
import {
  type GateId,
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
import { Elsewhere, derive } from "@berth/engine";
import { poolInScope } from "../../access/scope.ts";
import type { Call, Handler, TenantScope } from "../../call.ts";
import { ApiError, fromRefusal, notFound } from "../../errors.ts";
import { visiblePool } from "../../visibility.ts";
import { type Reported, checkReports } from "./check-reports.ts";
import { type KnownNode, knownNodes } from "./store.ts";

/** Gates that are written at once: nodes in no pool have one each. */
const GATES_AT_ONCE = 8;
/** How often nodes that move meanwhile are looked for again. */
const ATTEMPTS = 8;

export const putNodes: Handler<"fleet.putNodes"> = {
  check: ({ nodes }) => reportIssues(nodes),

  async run(call, input, scope) {
    // 1. The pool to join is the site's owner's.
    if (input.poolId) {
      const pool = await visiblePool(call, scope, input.poolId);
      if (!pool?.owned) throw notFound("the pool is not the site's owner's");
    }

    // 2. Where the nodes are is read outside their gates, so what moved meanwhile is looked for again.
    const nodes = input.nodes.map((report): Reported => ({
      id: nodeIdOf(input.siteId, report.name, derive),
      report,
    }));
    const put: Put = { call, input, scope, done: new Map(), joined: new Set() };
    for (let attempt = 1; put.done.size < nodes.length; attempt += 1) {
      if (attempt > ATTEMPTS)
        throw new ApiError("UNAVAILABLE", {
          message: "Nodes of this call are being moved; report them again in a moment.",
        });
      await putWhereTheyAre(put, nodes);
    }

    // 3. The answer, in the order given; joining a pool is a change.
    return {
      nodes: nodes.flatMap(({ id }) => {
        const one = put.done.get(id);
        return one ? [put.joined.has(id) ? { ...one, outcome: "changed" as const } : one] : [];
      }),
    };
  },
};

/** One call, and how far it has come. */
interface Put {
  readonly call: Call;
  readonly input: Input<"fleet.putNodes">;
  readonly scope: TenantScope;
  readonly done: Map<NodeId, PutNode>;
  readonly joined: Set<NodeId>;
}

async function putWhereTheyAre(put: Put, nodes: readonly Reported[]): Promise<void> {
  const { call, input } = put;

  // 1. Nothing is wrong with the reports taken together, nor beside the site's other nodes.
  const givers = await checkReports(call, input, nodes);

  // 2. Which gate each goes through; every gate can take its part before the first is written.
  const left = nodes.filter(({ id }) => !put.done.has(id));
  const known = await knownNodes(
    call.deps.db,
    left.map(({ id }) => id),
  );
  if ([...known.values()].some(({ siteId }) => siteId !== input.siteId))
    throw notFound("a derived node id of another site");
  mindKeyPools(call, known);
  const parts = partsOf(put, { left, known, givers });
  await eachOf(parts, (part) => checkGate(call, part));

  // 3. Nodes in no pool join, then each gate is written once.
  const { poolId } = input;
  if (poolId) {
    const joining = left.filter(({ id }) => isHere(known.get(id)) && !known.get(id)?.poolId);
    await eachOf(joining, async ({ id }) => {
      if (await join(call, id, poolId)) put.joined.add(id);
    });
  }
  await eachOf(parts, async (part) => {
    for (const one of await writeGate(call, part)) put.done.set(one.id, one);
    if (part.seq !== undefined && part.gateId === poolId) call.answer.seq = part.seq;
  });
}

/** A key that is limited to some pools reports no node that is in another one, or in none. */
function mindKeyPools(call: Call, known: ReadonlyMap<NodeId, KnownNode>): void {
  for (const node of known.values())
    if (isHere(node) && !poolInScope(call.principal, node.poolId ?? null))
      throw notFound("a node is outside the key's pools");
}

interface GatePart {
  readonly gateId: GateId;
  readonly ask: PutNodesAsk;
  /** The gate may not be there yet: a new node's own. */
  readonly create: boolean;
  seq?: number;
}

interface Found {
  readonly left: readonly Reported[];
  readonly known: ReadonlyMap<NodeId, KnownNode>;
  readonly givers: readonly NodeId[];
}

function partsOf({ input, scope }: Put, { left, known, givers }: Found): GatePart[] {
  const byGate = Map.groupBy(left, ({ id }) => gateOf(id, known.get(id), input.poolId));
  return [...byGate].map(([gateId, reported]) => {
    const nodes = reported.map((one) => {
      const was = known.get(one.id);
      const here = isHere(was);
      return { ...one, member: here && was?.gateId === gateId, was: here ? undefined : was };
    });
    const { siteId } = input;
    const ask = { siteId, ownerId: scope.tenantId, nodes, givers };
    const create = nodes.some(({ id, member }) => id === gateId && !member);
    return { gateId, ask, create };
  });
}

/** A registered node stays where it is, but one in no pool joins the pool that was named. */
function gateOf(id: NodeId, known: KnownNode | undefined, poolId: PoolId | undefined): GateId {
  return (isHere(known) ? known?.poolId : null) ?? poolId ?? id;
}

function isHere(known: KnownNode | undefined): boolean {
  return known !== undefined && !known.removed;
}

/** A gate that is not there yet is a new node's own, which takes it. */
async function checkGate(call: Call, { gateId, ask }: GatePart): Promise<void> {
  const found = await call.deps.engine.read(gateId, (state, now) => checkNodes(state, now, ask));
  if (found && !found.value.ok) throw fromRefusal(found.value.refusal);
}

/** False when the node is no longer in no pool. */
async function join(call: Call, id: NodeId, poolId: PoolId): Promise<boolean> {
  const { value: moved } = await call.deps.engine.move({
    from: id,
    to: poolId,
    create: false,
    plan: (from, to) => moveNode(from, to, { nodeId: id }),
  });
  if (!moved.ok && moved.refusal.code !== "NOT_FOUND") throw fromRefusal(moved.refusal);
  return moved.ok;
}

/** Nothing when one of the nodes is elsewhere by now. */
async function writeGate(call: Call, part: GatePart): Promise<readonly PutNode[]> {
  const { gateId, ask, create } = part;
  try {
    const committed = await call.deps.engine.submit(gateId, {
      name: call.method,
      tenantId: ask.ownerId,
      signal: call.signal,
      create,
      plan: (turn) => rule(turn, ask),
    });
    if (!committed.value.ok) throw fromRefusal(committed.value.refusal);
    part.seq = committed.seq;
    return committed.value.value ?? [];
  } catch (error) {
    if (error instanceof Elsewhere) return [];
    throw error;
  }
}

/** Runs over all, a few at a time; the first failure stops what has not begun and waits for the rest. */
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
  const ended = await Promise.allSettled(Array.from({ length: GATES_AT_ONCE }, worker));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}
