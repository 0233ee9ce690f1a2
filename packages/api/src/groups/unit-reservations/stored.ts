/** One stored unit reservation, its status the one that it has by now. */
import type { UnitReservationId } from "@berth/domain";
import type { Call, UnitScope } from "../../call.ts";
import { notFound } from "../../errors.ts";
import { noteOrder } from "../pool-order.ts";
import { namedNode } from "./at-node.ts";
import { unitReservationRow } from "./store.ts";
import { type UnitReservationView, unitReservationView } from "./view.ts";

export async function storedUnitReservation(
  call: Call,
  scope: UnitScope,
  id: UnitReservationId,
): Promise<UnitReservationView> {
  const { gateId, poolId } = namedNode(scope);
  await call.deps.engine.settle([gateId]);
  if (poolId) await noteOrder(call, poolId);
  const row = await unitReservationRow(call.deps.db, id);
  if (!row) throw notFound("the unit reservation went away between two reads");
  return unitReservationView(row);
}
