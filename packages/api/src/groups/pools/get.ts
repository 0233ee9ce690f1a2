/** One pool, as the tenant sees it. */
import type { Handler } from "../../call.ts";
import { storedPool } from "./stored-pool.ts";

export const get: Handler<"pools.get"> = {
  run: (call, _input, scope) => storedPool(call, scope.pool),
};
