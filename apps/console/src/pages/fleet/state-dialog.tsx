/** Another state for a node, with what is booked on it in sight. */
import type { NodeSchedule, NodeState } from "@berth/client";
import { useState } from "react";
import type { ReactNode } from "react";
import { useNow } from "../../app/now.ts";
import { useSession } from "../../app/session.tsx";
import { countText } from "../../format/gpus.ts";
import { laneOfNode } from "../../lanes/node-lanes.ts";
import { Consequences } from "../../plan/consequences.tsx";
import { PlanDialog, knownPlan } from "../../plan/plan-dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { NODE_STATES } from "./search.ts";

export function StateDialog({
  node,
  onClose,
}: {
  readonly node: NodeSchedule;
  readonly onClose: () => void;
}): ReactNode {
  const { berth } = useSession();
  const [state, setState] = useState<NodeState>(node.state === "ready" ? "unhealthy" : "ready");
  const now = useNow(5_000);
  const taken = laneOfNode(node, new Map()).spans.filter(
    ({ kind }) => kind === "mine" || kind === "spot" || kind === "booked",
  );
  const running = taken.filter(({ end, start }) => start <= now && now < end).length;
  const coming = taken.filter(({ start }) => start > now).length;
  return (
    <PlanDialog
      title={`State of ${node.name}`}
      onClose={onClose}
      plan={knownPlan(node)}
      gentle={state === "ready"}
      fields={
        <Select
          label="State"
          value={state}
          choices={NODE_STATES.map((each) => ({ value: each, name: each }))}
          onChange={setState}
        />
      }
      verb={() => `Set ${node.name} to ${state}`}
      act={({ version }) => berth.fleet.setNodeState({ nodeId: node.id, state, version })}
      done={() => `${node.name} is ${state}`}
      refusal={(shown) => (shown.state === state ? `It is ${state} already.` : null)}
    >
      {() =>
        state === "ready" ? (
          <Consequences
            tone="stays"
            heading="It takes bookings again; what was degraded for its state is sound"
            items={[]}
          />
        ) : (
          <>
            <Consequences
              tone="ends"
              heading={`No new bookings; ${countText(coming, "coming booking")} ${coming === 1 ? "goes" : "go"} elsewhere where there is room`}
              items={[]}
            />
            <Consequences
              tone="stays"
              heading={`${countText(running, "running booking")} ${running === 1 ? "stays" : "stay"}, flagged degraded`}
              items={[]}
            />
          </>
        )
      }
    </PlanDialog>
  );
}
