/** Breaks and mends a small pool, and uses what that frees, as the engine does. For tests only. */
import { setNodeState, setUnitHealth } from "../fleet/set-state.ts";
import type { NodeId, ReservationId, TenantId, UnitId } from "../ids.ts";
import type { Node, PoolSnapshot, Reservation } from "../model.ts";
import { createReservation } from "../reservations/create.ts";
import { useFreed } from "../reservations/freed.ts";
import { releaseReservation } from "../reservations/release.ts";
import type { DomainEvent } from "../turn.ts";
import type { BookingShape } from "../reservations/request.ts";
import {
  HOUR,
  NOW,
  type TestTurn,
  accepted,
  gpuNode,
  gpuPool,
  gpus,
  nodeId,
  unitId,
} from "../reservations/test-kit.ts";

export const LATER: { readonly start: number } = { start: NOW + HOUR };
export const EIGHT: BookingShape = gpus(8, LATER);
export const TEAM: BookingShape = { ...EIGHT, gang: { size: 2 } };

export function racks(...names: readonly string[]): PoolSnapshot {
  const nodes = names.map((rack, n) => gpuNode(n, 8, { labels: { rack } }));
  return { ...gpuPool(0, 0), nodes };
}

export function book(turn: TestTurn, shape: BookingShape, tenantId: TenantId = "t-a"): Reservation {
  const who = { tenantId, ancestors: [], projectId: null, leaseSeconds: null, createdBy: "ci" };
  return accepted(createReservation(turn, { ...who, shape }));
}

/** Whatever is freed by it is used, as the engine sees to it. */
export function fail(turn: TestTurn, node: NodeId, state: Node["state"] = "unhealthy"): void {
  accepted(setNodeState(turn, { nodeId: node, state }));
  useFreed(turn);
}
export function sicken(turn: TestTurn, id: UnitId, healthy = false): void {
  const found = turn.state.unit(id);
  accepted(setUnitHealth(turn, { nodeId: found?.node.id ?? nodeId(0), unitId: id, healthy }));
  useFreed(turn);
}
export function release(turn: TestTurn, { id, tenantId }: Reservation): void {
  accepted(releaseReservation(turn, { reservationId: id, tenantId }));
  useFreed(turn);
}

export const now = (turn: TestTurn, { id }: { id: ReservationId }): Reservation => {
  const found = turn.state.reservation(id);
  if (!found) throw new Error(`${id} is not live`);
  return found;
};
export const nodesOf = ({ members }: Reservation): NodeId[] =>
  members.map((member) => member.nodeId);
export const unitsOf = ({ members }: Reservation): UnitId[] => members.flatMap((m) => m.unitIds);
export const told = (turn: TestTurn, type: string): DomainEvent["views"][number][] =>
  turn.events.filter((event) => event.type === type).flatMap(({ views }) => views);

export function onNode(node: number, count: number): BookingShape["devices"] {
  const unitIds = Array.from({ length: count }, (_, at) => unitId(node, at));
  return [{ class: "gpu", count, selector: { unitIds } }];
}
