/** Takes a node out of service for a window, or says what that would do to its bookings. */
import type { Output } from "@berth/contract";
import {
  type MaintenancePlan,
  type Result,
  type Scheduled,
  checkMaintenance,
  maintenancePlan,
  ok,
  scheduleMaintenance as rule,
} from "@berth/domain";
import type { Handler } from "../../call.ts";
import { conflict, fromRefusal } from "../../errors.ts";
import { orderIssues } from "../order-issues.ts";
import { atNode, nodeAsk } from "./change-node.ts";
import { readAtNode } from "./read-node.ts";

type Answer = Output<"fleet.scheduleMaintenance">;

export const scheduleMaintenance: Handler<"fleet.scheduleMaintenance"> = {
  check: orderIssues,

  async run(call, input, scope) {
    const { from, to, expect } = input;
    const ask = { ...nodeAsk(scope, input), from, to };

    // 1. A dry run reads, checks and writes nothing.
    if (input.dryRun) {
      const found = await readAtNode(call, scope, (state, { now }): Result<MaintenancePlan> => {
        const checked = checkMaintenance(state, now, ask);
        return checked.ok ? ok(maintenancePlan(state, ask.nodeId, ask)) : checked;
      });
      if (!found.ok) throw fromRefusal(found.refusal);
      return planView({ id: null, plan: found.value });
    }

    // 2. Scheduled, unless the plan is no longer the one that was agreed to.
    const done = await atNode(call, scope, (turn) => rule(turn, { ...ask, expect }));
    if (done.id === null)
      throw conflict("plan", {
        message: "The bookings on the node changed since the plan was made: look at it again.",
        plan: planView(done),
      });
    return planView(done);
  },
};

export function planView({ id, plan }: Scheduled): Answer {
  return { id, healed: [...plan.healed], staying: [...plan.staying] };
}
