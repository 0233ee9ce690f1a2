/**
 * Windows in which a node is out of service. Nothing new is placed into one; bookings that overlap stay
 * where they are and are listed.
 */
import type { MaintenanceId, NodeId, ReservationId } from "../ids.ts";
import type { Node } from "../model.ts";
import { type Result, invalid, ok, refuse } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";
import { tellOfNode, windowFacts } from "./events.ts";
import { type NodeAsk, findNode } from "./find-node.ts";

const WINDOWS_MAX = 64;

export interface Window {
  readonly from: number;
  readonly to: number;
}

/** What a window does to live bookings. */
export interface MaintenancePlan {
  readonly healed: readonly ReservationId[];
  readonly staying: readonly ReservationId[];
}

export interface MaintenanceAsk extends NodeAsk, Window {
  /** The plan that was agreed to; with another one nothing is scheduled. */
  readonly expect?: MaintenancePlan | undefined;
}

export interface Scheduled {
  /** Null when `expect` no longer holds: nothing was scheduled. */
  readonly id: MaintenanceId | null;
  readonly plan: MaintenancePlan;
}

/** Live bookings that overlap the window, by id. */
export function maintenancePlan(state: PoolState, nodeId: NodeId, window: Window): MaintenancePlan {
  const staying = state
    .reservationsOn(nodeId)
    .filter(({ start, end }) => start < window.to && end > window.from)
    .map(({ id }) => id);
  return { healed: [], staying };
}

/** Whether the node can be taken out of service then; answers the node. */
export function checkMaintenance(
  state: PoolState,
  now: number,
  ask: NodeAsk & Window,
): Result<Node> {
  const found = findNode(state, ask);
  if (!found.ok) return found;
  if (ask.to <= ask.from) return invalid(["to"], "must be after `from`");
  if (ask.to <= now) return invalid(["to"], "must not be in the past");
  if (found.value.maintenance.length < WINDOWS_MAX) return found;
  return refuse({
    code: "INVALID_STATE",
    message: `node ${found.value.name} has ${WINDOWS_MAX} maintenance windows already`,
  });
}

/** A window that began in the past is started by what is due at this very instant. */
export function scheduleMaintenance(turn: Turn, ask: MaintenanceAsk): Result<Scheduled> {
  const checked = checkMaintenance(turn.state, turn.now, ask);
  if (!checked.ok) return checked;
  const plan = maintenancePlan(turn.state, ask.nodeId, ask);
  if (ask.expect && !agrees(ask.expect, plan)) return ok({ id: null, plan });
  const before = checked.value;
  const window = { id: turn.freshId("mnt"), start: ask.from, end: ask.to, active: false };
  const maintenance = [...before.maintenance, window].sort((a, b) => a.start - b.start);
  const node: Node = { ...before, maintenance, version: before.version + 1 };
  turn.apply({ kind: "node", before, after: node });
  const touched = turn.state.reservationsOn(node.id).filter(({ id }) => plan.staying.includes(id));
  const more = windowFacts(window);
  tellOfNode(turn, { type: "maintenance.scheduled", node, touched, more });
  return ok({ id: window.id, plan });
}

function agrees(a: MaintenancePlan, b: MaintenancePlan): boolean {
  const text = ({ healed, staying }: MaintenancePlan): string =>
    JSON.stringify([healed.toSorted(), staying.toSorted()]);
  return text(a) === text(b);
}

/** Calls a window off, or ends it early; one that is over is INVALID_STATE. */
export function cancelMaintenance(
  turn: Turn,
  ask: NodeAsk & { readonly maintenanceId: MaintenanceId },
): Result<Scheduled> {
  const found = findNode(turn.state, ask);
  if (!found.ok) return found;
  const before = found.value;
  const window = before.maintenance.find(({ id }) => id === ask.maintenanceId);
  if (!window) return refuse({ code: "INVALID_STATE", message: "this maintenance window is over" });
  const maintenance = before.maintenance.filter(({ id }) => id !== window.id);
  const node: Node = { ...before, maintenance, version: before.version + 1 };
  turn.apply({ kind: "node", before, after: node });
  const plan = maintenancePlan(turn.state, node.id, { from: window.start, to: window.end });
  const touched = turn.state.reservationsOn(node.id).filter(({ id }) => plan.staying.includes(id));
  const more = windowFacts(window);
  tellOfNode(turn, { type: "maintenance.cancelled", node, touched, more });
  return ok({ id: window.id, plan });
}
