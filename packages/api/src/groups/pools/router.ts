/** The pools group: a line a method. */
import type { GroupHandlers } from "../../call.ts";
import { archive } from "./archive.ts";
import { capacity } from "./capacity.ts";
import { create } from "./create.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { offer } from "./offer.ts";
import { unoffer } from "./unoffer.ts";
import { update } from "./update.ts";

export const poolsHandlers: GroupHandlers<"pools"> = {
  list,
  get,
  create,
  capacity,
  offer,
  unoffer,
  update,
  archive,
};
