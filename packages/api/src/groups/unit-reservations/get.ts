/** One unit reservation. */
import type { Handler } from "../../call.ts";
import { storedUnitReservation } from "./stored.ts";

export const get: Handler<"unitReservations.get"> = {
  run: (call, input, scope) => storedUnitReservation(call, scope, input.reservationId),
};
