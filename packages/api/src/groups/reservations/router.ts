/** The reservations group: a line a method. */
import type { GroupHandlers } from "../../call.ts";
import { create } from "./create.ts";
import { extend } from "./extend.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { quote } from "./quote.ts";
import { release } from "./release.ts";
import { renew } from "./renew.ts";
import { terminate } from "./terminate.ts";
import { watch } from "./watch.ts";

export const reservationsHandlers: GroupHandlers<"reservations"> = {
  create,
  quote,
  get,
  list,
  renew,
  extend,
  release,
  terminate,
  watch,
};
