/** Calls a maintenance window off, or ends it early. */
import { cancelMaintenance as rule } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { atNode, nodeAsk } from "./change-node.ts";
import { planView } from "./schedule-maintenance.ts";

export const cancelMaintenance: Handler<"fleet.cancelMaintenance"> = {
  async run(call, input, scope) {
    const ask = { ...nodeAsk(scope, input), maintenanceId: input.maintenanceId };
    return planView(await atNode(call, scope, { plan: (turn) => rule(turn, ask) }));
  },
};
