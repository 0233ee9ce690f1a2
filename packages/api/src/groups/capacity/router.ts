/** The capacity group: a line a method. */
import type { GroupHandlers } from "../../call.ts";
import { byPool } from "./by-pool.ts";
import { preview } from "./preview.ts";
import { summary } from "./summary.ts";
import { timeline } from "./timeline.ts";

export const capacityHandlers: GroupHandlers<"capacity"> = { summary, byPool, preview, timeline };
