/** The events group: a line a method. */
import type { GroupHandlers } from "../../call.ts";
import { list } from "./list.ts";

export const eventsHandlers: GroupHandlers<"events"> = { list };
