/** One stored reservation with nothing over in it: a booking past its end is shown ended. */
import type { PoolId, ReservationId } from "@berth/domain";
import type { Call } from "../../call.ts";
import { notFound } from "../../errors.ts";
import { memberFacts, reservationRow } from "./store.ts";
import { type ReservationView, reservationView } from "./view.ts";

export async function storedReservation(
  call: Call,
  at: { readonly poolId: PoolId; readonly id: ReservationId },
): Promise<ReservationView> {
  const { db, engine } = call.deps;
  await engine.settle([at.poolId]);
  const stored = await reservationRow(db, at.id);
  if (!stored) throw notFound("the reservation went away between two reads");
  call.answer.seq = stored.seq;
  const facts = await memberFacts(db, [stored.reservation]);
  return reservationView(stored.reservation, {
    node: (id) => facts.nodes.get(id),
    unit: (id) => facts.units.get(id),
  });
}
