/** A pool whose GPUs can be set aside, and the usual unit reservation of it. For tests only. */
import type { UnitId } from "../ids.ts";
import type { UnitReservation } from "../claims.ts";
import type { Node, PoolConfig, Reservation } from "../model.ts";
import type { Result } from "../refusal.ts";
import { createReservation } from "../reservations/create.ts";
import type { BookingShape } from "../reservations/request.ts";
import {
  type TestTurn,
  accepted,
  gpuNode,
  gpuPool,
  gpus,
  nodeId,
  turnOn,
  unitId,
} from "../reservations/test-kit.ts";
import { type CreateTermAsk, createUnitReservation } from "./create.ts";
import type { TermAsk } from "./find.ts";

export const PLATFORM = "platform";

/** One node of the pool is number 0, its GPUs have VFIO groups. */
export function fencedNode(count: number, given: Partial<Node> = {}): Node {
  const node = gpuNode(0, count);
  const units = node.units.map((unit, at) => ({ ...unit, vfioGroup: String(at) }));
  return { ...node, units, ...given };
}

export function fencedTurn(count: number, config: Partial<PoolConfig> = {}): TestTurn {
  return turnOn({ ...gpuPool(0, 0, config), nodes: [fencedNode(count)] });
}

export const units = (...at: number[]): UnitId[] => at.map((index) => unitId(0, index));

export function termAskOf(given: Partial<CreateTermAsk> = {}): CreateTermAsk {
  return {
    nodeId: nodeId(0),
    unitIds: units(0, 1),
    allowedOrgIds: ["t-a", PLATFORM],
    managingOrgIds: [],
    startsAt: null,
    endsAt: null,
    reason: null,
    contractRef: null,
    createdBy: "platform/ops",
    ...given,
  };
}

/** GPUs 0 and 1 for t-a from now on, unless said otherwise. */
export function setAside(turn: TestTurn, given: Partial<CreateTermAsk> = {}): UnitReservation {
  return accepted(createUnitReservation(turn, termAskOf(given)));
}

/** One GPU for an hour from now on. */
export function book(
  turn: TestTurn,
  tenantId: string,
  given: Partial<BookingShape> = {},
): Result<Reservation> {
  return createReservation(turn, {
    tenantId,
    ancestors: [],
    shape: gpus(1, given),
    projectId: null,
    leaseSeconds: null,
    createdBy: `${tenantId}/ci`,
  });
}

/** A shape that names these units. */
export function exactly(unitIds: readonly UnitId[]): Partial<BookingShape> {
  return { devices: [{ class: "gpu", count: unitIds.length, selector: { unitIds } }] };
}

/** Which one a call is about. */
export function of({ id, nodeId: on }: UnitReservation): TermAsk {
  return { nodeId: on, unitReservationId: id };
}

/** As it is by now; undefined once it is over. */
export function standing(turn: TestTurn, { id }: UnitReservation): UnitReservation | undefined {
  return turn.state.unitReservation(id);
}
