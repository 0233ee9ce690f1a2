/** A node as the API shows it, and when its units are taken as one tenant may know it. */
import type { Output } from "@berth/contract";
import {
  type Node,
  type PoolId,
  type PoolState,
  type TenantId,
  TIME_MAX,
  type Unit,
  type UnitId,
  isFaulty,
  isWithheldAt,
  termsOf,
  withheldTerms,
} from "@berth/domain";
import type { Call, TenantScope, VisibleNode } from "../../call.ts";

export type NodeView = Output<"fleet.getNode">;
export type NodeScheduleView = Output<"fleet.listNodes">["nodes"][number];
type Span = NodeScheduleView["units"][number]["spans"][number];

/** With all of its units. */
export function nodeView(node: Node, poolId: PoolId | null): NodeView {
  return { ...nodeFields(node, poolId), units: node.units.map((unit) => unitFields(node, unit)) };
}

/** Without the units that are withheld from the tenant now, unless it may know of them. */
export function nodeViewFor(state: PoolState, node: Node, ask: Sight): NodeView {
  const units = node.units.filter(({ id }) => !isHidden(state, id, ask));
  return nodeView({ ...node, units }, ask.poolId);
}

/** Whose eyes a node is seen with, and when. */
export interface Sight {
  readonly poolId: PoolId | null;
  readonly tenantId: TenantId;
  readonly now: number;
  /** For the node's owner and the fleet's operator no unit is hidden. */
  readonly whole: boolean;
}

function isHidden(state: PoolState, unitId: UnitId, { tenantId, now, whole }: Sight): boolean {
  return !whole && isWithheldAt(termsOf(state, unitId), { unitId, tenantId, now });
}

export function seesWhole(
  call: Call,
  scope: TenantScope,
  node: Pick<VisibleNode, "tenantId">,
): boolean {
  const { access } = call.deps;
  return (
    node.tenantId === scope.tenantId ||
    access.decide(call.principal, "compute:nodes:manage", { kind: "compute-fleet" })
  );
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
  return seesWhole(call, scope, node) ? view : { ...view, address: null };
}

/** A part of a GPU is shown as sound as the GPU, and a device that is no longer reported as unsound. */
function unitFields(node: Node, unit: Unit): NodeView["units"][number] {
  const { key: _key, removed: _removed, migProfiles: _table, ...shown } = unit;
  return { ...shown, healthy: !isFaulty(node, unit) };
}

/** The tenant's own bookings are `mine`; all others are `busy` and have no id. */
export interface ScheduleAsk extends Sight {
  readonly from: number;
  readonly to: number;
}

export function scheduleView(state: PoolState, node: Node, ask: ScheduleAsk): NodeScheduleView {
  const outages = node.maintenance
    .map(({ start, end }): Span => ({ start, end, kind: "maintenance", reservationId: null }))
    .filter((span) => overlaps(span, ask));
  const shown = node.units.filter(({ id }) => !isHidden(state, id, ask));
  const units = shown.map((unit) => {
    const terms = termSpans(state, unit.id, ask);
    const inside = (booking: Window): boolean =>
      terms.some(({ start, end }) => start <= booking.start && booking.end <= end);
    const booked = state
      .bookingsOf(unit.id)
      .filter((booking) => overlaps(booking, ask))
      .filter((booking) => ask.whole || !inside(booking))
      .map(({ start, end, reservationId }): Span => {
        const mine = state.reservation(reservationId)?.tenantId === ask.tenantId;
        return mine
          ? { start, end, kind: "mine", reservationId }
          : { start, end, kind: "busy", reservationId: null };
      });
    const spans = [...booked, ...terms, ...outages].sort((a, b) => a.start - b.start);
    return { ...unitFields(node, unit), spans };
  });
  return { ...nodeFields(node, ask.poolId), units };
}

interface Window {
  readonly start: number;
  readonly end: number;
}

/** When the unit is set aside, for whoever may know; for others when it is not theirs to book, and no more. */
function termSpans(state: PoolState, unitId: UnitId, ask: ScheduleAsk): Span[] {
  const { tenantId, whole } = ask;
  const terms = termsOf(state, unitId);
  const kind = whole ? "withheld" : "busy";
  return (whole ? terms : withheldTerms(terms, { unitId, tenantId }))
    .map(({ start, end }): Span => ({
      start,
      end: Math.min(end, TIME_MAX),
      kind,
      reservationId: null,
    }))
    .filter((span) => overlaps(span, ask));
}

function overlaps(span: Window, window: { from: number; to: number }): boolean {
  return span.start < window.to && span.end > window.from;
}
