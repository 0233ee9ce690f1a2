/** Ends a reservation now; an ended one is answered as it is. */
import { releaseReservation } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { changeReservation } from "./change-reservation.ts";

export const release: Handler<"reservations.release"> = {
  run: (call, input, scope) =>
    changeReservation(call, scope, (turn) => releaseReservation(turn, input)),
};
