/** A node as the API shows it, and when its units are taken as one tenant may know it. */
import type { Output } from "@berth/contract";
import type { Node, PoolId, PoolState, TenantId, Unit } from "@berth/domain";
import type { Call, TenantScope, VisibleNode } from "../../call.ts";

export type NodeView = Output<"fleet.getNode">;
export type NodeScheduleView = Output<"fleet.listNodes">["nodes"][number];
type Span = NodeScheduleView["units"][number]["spans"][number];

export function nodeView(node: Node, poolId: PoolId | null): NodeView {
  return { ...nodeFields(node, poolId), units: node.units.map(unitFields) };
}

function nodeFields(node: Node, poolId: PoolId | null): Omit<NodeView, "units"> {
  const { id, siteId, name, address, state, labels, topologyGen, version, tenantOwned } = node;
  const maintenance = node.maintenance.map((w) => ({ id: w.id, from: w.start, to: w.end }));
  const facts = { id, siteId, poolId, name, address, state, topologyGen, version, tenantOwned };
  return { ...facts, labels: { ...labels }, maintenance };
}

interface Shown<V> {
  readonly node: Pick<VisibleNode, "tenantId">;
  readonly view: V;
}

/** Where a node is reached is for its owner and the fleet's operator; bookers have it from their booking. */
export function addressed<V extends { readonly address: string | null }>(
  call: Call,
  scope: TenantScope,
  { node, view }: Shown<V>,
): V {
  const { access } = call.deps;
  const shown =
    node.tenantId === scope.tenantId ||
    access.decide(call.principal, "compute:nodes:manage", { kind: "compute-fleet" });
  return shown ? view : { ...view, address: null };
}

/** A device that is no longer reported is shown as unsound while it is booked. */
function unitFields(unit: Unit): NodeView["units"][number] {
  const { key: _key, removed, healthy, ...shown } = unit;
  return { ...shown, healthy: healthy && !removed };
}

export interface ScheduleAsk {
  readonly poolId: PoolId | null;
  /** Whose bookings are `mine`; all others are `busy` and have no id. */
  readonly tenantId: TenantId;
  readonly from: number;
  readonly to: number;
}

export function scheduleView(state: PoolState, node: Node, ask: ScheduleAsk): NodeScheduleView {
  const outages = node.maintenance
    .map(({ start, end }): Span => ({ start, end, kind: "maintenance", reservationId: null }))
    .filter((span) => overlaps(span, ask));
  const units = node.units.map((unit) => {
    const booked = state
      .bookingsOf(unit.id)
      .filter((booking) => overlaps(booking, ask))
      .map(({ start, end, reservationId }): Span => {
        const mine = state.reservation(reservationId)?.tenantId === ask.tenantId;
        return mine
          ? { start, end, kind: "mine", reservationId }
          : { start, end, kind: "busy", reservationId: null };
      });
    const spans = [...booked, ...outages].sort((a, b) => a.start - b.start);
    return { ...unitFields(unit), spans };
  });
  return { ...nodeFields(node, ask.poolId), units };
}

function overlaps(
  span: { start: number; end: number },
  window: { from: number; to: number },
): boolean {
  return span.start < window.to && span.end > window.from;
}
