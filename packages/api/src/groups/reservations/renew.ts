/** Keeps a leased reservation alive. */
import { renewReservation } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { changeReservation } from "./change-reservation.ts";

export const renew: Handler<"reservations.renew"> = {
  run: (call, input, scope) =>
    changeReservation(call, scope, (turn) => renewReservation(turn, input)),
};
