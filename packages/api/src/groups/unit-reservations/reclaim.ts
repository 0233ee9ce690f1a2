/** Takes set-aside units back from the spot market, or says what that would end. */
import { type Reclaim, planReclaim, reclaimUnits } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { conflict } from "../../errors.ts";
import { changeAtNode, readAtNode, termAsk } from "./at-node.ts";
import { plannedView, unitReservationView } from "./view.ts";

export const reclaim: Handler<"unitReservations.reclaim"> = {
  async run(call, input, scope) {
    const { unitIds, expect } = input;
    const ask = { ...termAsk(scope, input), unitIds, expect };

    // 1. A dry run is the same plan, read and not carried out.
    if (input.dryRun) {
      const planned = await readAtNode(call, scope, (state) => planReclaim(state, ask));
      mindPlan(planned);
      return { ...unitReservationView(planned.reservation), ...plannedView(planned.plan) };
    }

    // 2. Carried out, unless the caller agreed to another plan.
    const done = await changeAtNode(call, scope, (turn) => reclaimUnits(turn, ask));
    mindPlan(done);
    const { terminate, skip } = done.plan;
    const outcome = { terminated: [...terminate], skipped: [...skip] };
    return { ...unitReservationView(done.reservation), ...outcome };
  },
};

/** @throws ApiError CONFLICT with the plan as it is by now */
function mindPlan({ agreed, plan }: Reclaim): void {
  if (agreed) return;
  throw conflict("plan", {
    message: "Other reservations would end than those that were expected: look at the plan again.",
    plan: plannedView(plan),
  });
}
