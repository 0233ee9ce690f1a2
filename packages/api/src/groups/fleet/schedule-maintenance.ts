/** Takes a node out of service for a window, or says what that would do to its bookings. */
import type { Output } from "@berth/contract";
import { type Scheduled, scheduleMaintenance as rule } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { orderIssues } from "../order-issues.ts";
import { atNode, nodeAsk } from "./change-node.ts";

type Answer = Output<"fleet.scheduleMaintenance">;

export const scheduleMaintenance: Handler<"fleet.scheduleMaintenance"> = {
  check: orderIssues,

  async run(call, input, scope) {
    const { from, to, expect, dryRun = false } = input;
    const ask = { ...nodeAsk(scope, input), from, to, expect };
    const done = planView(await atNode(call, scope, { dryRun, plan: (turn) => rule(turn, ask) }));
    return dryRun ? { ...done, id: null } : done;
  },
};

export function planView({ id, plan }: Scheduled): Answer {
  return { id, healed: [...plan.healed], staying: [...plan.staying] };
}
