/** What a node's events tell, and to whom: its owner, and the tenants whose bookings it holds. */
import type { MaintenanceId, UnitId } from "../ids.ts";
import type { Node, Reservation } from "../model.ts";
import type { EventType, Turn } from "../turn.ts";
import { unitAndParts } from "./units.ts";

export type FleetEvent = Extract<
  EventType,
  `node.${string}` | `unit.${string}` | `maintenance.${string}`
>;

export interface Telling {
  readonly type: FleetEvent;
  readonly node: Node;
  /** Bookings that are touched by it: their tenants are told, of the node and never of each other. */
  readonly touched?: readonly Reservation[];
  readonly more?: Readonly<Record<string, string | number | boolean | null>>;
}

export function tellOfNode(turn: Turn, { type, node, touched = [], more }: Telling): void {
  const { id: nodeId, siteId, name, state, topologyGen, version } = node;
  const data = { nodeId, siteId, name, state, topologyGen, version, ...more };
  const tenants = new Set([node.ownerId, ...touched.map((reservation) => reservation.tenantId)]);
  turn.emit({ type, views: [...tenants].map((tenantId) => ({ tenantId, data })) });
}

/** Live reservations that hold the unit, or a part of it when it is a GPU that is shared out, by id. */
export function holdersOf(turn: Turn, node: Node, unitId: UnitId): Reservation[] {
  const touched = new Set(unitAndParts(node, unitId));
  return turn.state
    .reservationsOn(node.id)
    .filter(({ members }) => members.some((m) => m.unitIds.some((id) => touched.has(id))));
}

export function windowFacts(window: {
  readonly id: MaintenanceId;
  readonly start: number;
  readonly end: number;
}): { maintenanceId: MaintenanceId; start: number; end: number } {
  return { maintenanceId: window.id, start: window.start, end: window.end };
}
