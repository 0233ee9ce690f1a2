/**
 * Windows in which a node is out of service. Nothing new is placed into one. Bookings that overlap go
 * elsewhere if they have not begun and there is room; the others stay, flagged.
 */
import type { MaintenanceId, ReservationId } from "../ids.ts";
import type { Maintenance, Node, Reservation } from "../model.ts";
import { type Refusal, type Result, invalid, invariant, ok, refuse } from "../refusal.ts";
import { mindNode } from "../reservations/heal.ts";
import { LOOKS_A_CALL, healingOf } from "../reservations/tries.ts";
import type { DueItem } from "../state/due-queue.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";
import { tellOfNode, windowFacts } from "./events.ts";
import { type NodeAsk, findNode } from "./find-node.ts";

const WINDOWS_MAX = 64;

export interface Window {
  readonly from: number;
  readonly to: number;
}

/** What a window does to the live bookings that it overlaps; ids sorted. */
export interface MaintenancePlan {
  /** When it is scheduled: those that go elsewhere. When it is called off: those that are sound again. */
  readonly healed: readonly ReservationId[];
  readonly staying: readonly ReservationId[];
}

export interface MaintenanceAsk extends NodeAsk, Window {
  /** The plan that was agreed to; with another one nothing is scheduled. */
  readonly expect?: MaintenancePlan | undefined;
}

export interface Scheduled {
  readonly id: MaintenanceId;
  readonly plan: MaintenancePlan;
}

/** Whether the node can be taken out of service then; answers the node. */
function checkMaintenance(state: PoolState, now: number, ask: NodeAsk & Window): Result<Node> {
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

/**
 * A window that began in the past is started by what is due at this very instant. With another plan than
 * the expected one it is refused as a conflict that carries the plan; all of it was done by then, so a
 * caller that is refused takes its turn back.
 */
export function scheduleMaintenance(turn: Turn, ask: MaintenanceAsk): Result<Scheduled> {
  const checked = checkMaintenance(turn.state, turn.now, ask);
  if (!checked.ok) return checked;
  const before = checked.value;
  const window = { id: turn.freshId("mnt"), start: ask.from, end: ask.to, active: false };
  const maintenance = [...before.maintenance, window].sort((a, b) => a.start - b.start);
  const touched = overlapping(turn, before, window);
  healingOf(turn).looksMax = LOOKS_A_CALL;
  changeWindows(turn, before, { type: "scheduled", window, maintenance });
  const plan = split(touched, ({ id }) => !holdsOn(turn, before, id));
  if (ask.expect && !agrees(ask.expect, plan)) return refuse(changedPlan(plan));
  return ok({ id: window.id, plan });
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
  const touched = overlapping(turn, before, window);
  changeWindows(turn, before, { type: "cancelled", window, maintenance });
  const plan = split(
    touched,
    ({ id, degraded }) => degraded !== null && !turn.state.reservation(id)?.degraded,
  );
  return ok({ id: window.id, plan });
}

/** A window begins or ends by itself. */
export function applyMaintenance(
  turn: Turn,
  due: Extract<DueItem, { readonly maintenanceId: unknown }>,
): void {
  const before = turn.state.node(due.nodeId);
  invariant(before, "maintenance is due on a node of the gate");
  const window = before.maintenance.find(({ id }) => id === due.maintenanceId);
  invariant(window, "a window that is due is its node's");
  const others = before.maintenance.filter(({ id }) => id !== window.id);
  if (due.kind === "maintenanceEnd")
    return changeWindows(turn, before, { type: "ended", window, maintenance: others });
  const maintenance = before.maintenance.map((w) => (w === window ? { ...w, active: true } : w));
  changeWindows(turn, before, { type: "started", window, maintenance });
}

/** Tells the node's owner and the tenants whose bookings the window touches, then minds the bookings. */
function changeWindows(
  turn: Turn,
  before: Node,
  to: {
    readonly type: "cancelled" | "ended" | "scheduled" | "started";
    readonly window: Maintenance;
    readonly maintenance: readonly Maintenance[];
  },
): void {
  const node: Node = { ...before, maintenance: to.maintenance, version: before.version + 1 };
  turn.apply({ kind: "node", before, after: node });
  const touched = overlapping(turn, node, to.window);
  const more = windowFacts(to.window);
  tellOfNode(turn, { type: `maintenance.${to.type}`, node, touched, more });
  mindNode(turn, node.id);
}

function overlapping(turn: Turn, node: Node, window: Maintenance): readonly Reservation[] {
  return turn.state
    .reservationsOn(node.id)
    .filter(({ start, end }) => start < window.end && end > window.start);
}

function holdsOn(turn: Turn, node: Node, id: ReservationId): boolean {
  return turn.state.reservation(id)?.members.some(({ nodeId }) => nodeId === node.id) ?? false;
}

function split(
  touched: readonly Reservation[],
  isHealed: (reservation: Reservation) => boolean,
): MaintenancePlan {
  const idsOf = (healed: boolean): ReservationId[] =>
    touched.filter((reservation) => isHealed(reservation) === healed).map(({ id }) => id);
  return { healed: idsOf(true), staying: idsOf(false) };
}

function agrees(a: MaintenancePlan, b: MaintenancePlan): boolean {
  const text = ({ healed, staying }: MaintenancePlan): string =>
    JSON.stringify([healed.toSorted(), staying.toSorted()]);
  return text(a) === text(b);
}

function changedPlan(plan: MaintenancePlan): Refusal {
  return {
    code: "CONFLICT",
    kind: "plan",
    message: "The bookings on the node changed since the plan was made: look at it again.",
    plan: { id: null, ...plan },
  };
}
