/** One reservation of the tenant. */
import type { Handler } from "../../call.ts";
import { namedReservation } from "./change-reservation.ts";
import { storedReservation } from "./stored-reservation.ts";

export const get: Handler<"reservations.get"> = {
  run: (call, _input, scope) =>
    storedReservation(call, { poolId: scope.pool.poolId, id: namedReservation(scope).id }),
};
