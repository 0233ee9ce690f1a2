/** The unitReservations group: a line a method. */
import type { GroupHandlers } from "../../call.ts";
import { cancel } from "./cancel.ts";
import { create } from "./create.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { reaffirm } from "./reaffirm.ts";
import { reclaim } from "./reclaim.ts";
import { release } from "./release.ts";

export const unitReservationsHandlers: GroupHandlers<"unitReservations"> = {
  create,
  list,
  get,
  cancel,
  release,
  reclaim,
  reaffirm,
};
