/** A pool's capacity rows, under the pools group: what `capacity.byPool` answers. */
import type { Handler } from "../../call.ts";
import { byPool } from "../capacity/by-pool.ts";

export const capacity: Handler<"pools.capacity"> = { run: byPool.run };
