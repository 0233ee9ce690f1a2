/** Nodes that the tenant sees, with when their units are taken, by id and in pages. */
import type { Input } from "@berth/contract";
import type { GateId, PoolState } from "@berth/domain";
import { poolInScope } from "../../access/scope.ts";
import type { Call, Handler, TenantScope } from "../../call.ts";
import { visiblePools } from "../../visibility.ts";
import { orderIssues } from "../order-issues.ts";
import { type PageOf, decodePageCursor, encodePageCursor } from "../page-cursor.ts";
import { type NodeRow, nodePage } from "./store.ts";
import {
  type NodeScheduleView,
  type ScheduleAsk,
  addressed,
  scheduleView,
  seesWhole,
} from "./view.ts";

type ListInput = Input<"fleet.listNodes">;

const PAGE: PageOf = { list: "nodes", field: "cursor", key: /^node_[0-9a-z]{26,52}$/ };

export const listNodes: Handler<"fleet.listNodes"> = {
  check: orderIssues,

  async run(call, input, scope) {
    // 1. One page of the nodes that the caller may have, and one more to know whether any follow.
    const rows = await allowedNodes(call, input, scope);
    const page = rows.slice(0, input.limit);

    // 2. Each gate is read once, at a state in which nothing is due.
    const views = new Map<string, NodeScheduleView>();
    for (const [gateId, nodes] of Map.groupBy(page, (row) => row.gateId))
      await readSchedules(call, { gateId, nodes, input, scope }, views);

    // 3. In order, as many as one answer carries; a node that left its gate in between is not there any more.
    const shown = page.slice(0, fitting(page, views));
    const last = shown.at(-1);
    const more = rows.length > shown.length;
    return {
      nodes: shown.flatMap((row) => views.get(row.id) ?? []),
      nextCursor: more && last ? encodePageCursor(PAGE, last.id) : null,
    };
  },
};

/** Units and spans that one answer carries; a page of large nodes ends early, the next one goes on there. */
const PARTS_MAX = 2_500;

/** How many of the page fit, at least one. */
function fitting(page: readonly NodeRow[], views: ReadonlyMap<string, NodeScheduleView>): number {
  let parts = 0;
  for (const [index, { id }] of page.entries()) {
    for (const unit of views.get(id)?.units ?? []) parts += 1 + unit.spans.length;
    if (parts > PARTS_MAX && index > 0) return index;
  }
  return page.length;
}

/** Refused nodes are passed over before pages are cut, so that no page and no cursor tells of them. */
async function allowedNodes(call: Call, input: ListInput, scope: TenantScope): Promise<NodeRow[]> {
  const { access, db } = call.deps;
  const { limit, poolId, siteId, state } = input;
  const pools = await visiblePools(call, scope);
  const filter = {
    tenantId: scope.tenantId,
    poolIds: pools.map((pool) => pool.poolId).filter((id) => poolInScope(call.principal, id)),
    ownSites: poolInScope(call.principal, null),
    poolId,
    siteId,
    state,
    limit: limit + 1,
  };
  const allowed: NodeRow[] = [];
  for (let after = decodePageCursor(PAGE, input.cursor); ;) {
    const rows = await nodePage(db, { ...filter, after });
    for (const node of rows)
      if (
        access.decide(call.principal, "compute:nodes:read", { kind: "compute-node", scope, node })
      )
        allowed.push(node);
    const last = rows.at(-1);
    if (rows.length <= limit || !last || allowed.length > limit) return allowed;
    after = last.id;
  }
}

interface GateRead {
  readonly gateId: GateId;
  readonly nodes: readonly NodeRow[];
  readonly input: ListInput;
  readonly scope: TenantScope;
}

/** Pauses after every node: a full page of busy nodes is long work. */
async function readSchedules(
  call: Call,
  { gateId, nodes, input, scope }: GateRead,
  into: Map<string, NodeScheduleView>,
): Promise<void> {
  const read = function* (state: PoolState, now: number) {
    const { from = now, to = Infinity } = input;
    const views: NodeScheduleView[] = [];
    for (const row of nodes) {
      const { poolId } = row;
      const whole = seesWhole(call, scope, row);
      const ask: ScheduleAsk = { poolId, tenantId: scope.tenantId, now, whole, from, to };
      const node = state.node(row.id);
      const shown = node && scheduleView(state, node, ask);
      if (shown) views.push(addressed(call, scope, { node: row, view: shown }));
      yield;
    }
    return views;
  };
  const found = await call.deps.engine.read<NodeScheduleView[]>(gateId, read);
  if (found && gateId === input.poolId) call.answer.seq = found.seq;
  for (const view of found?.value ?? []) into.set(view.id, view);
}
