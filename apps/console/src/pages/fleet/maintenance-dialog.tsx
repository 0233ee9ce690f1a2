/** Maintenance: the dry run says which bookings move and which stay degraded, and is held to that. */
import type { MaintenancePlan, NodeSchedule } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { useNow } from "../../app/now.ts";
import { useSession } from "../../app/session.tsx";
import { shortId } from "../../facts/describe.ts";
import { countText } from "../../format/gpus.ts";
import { Consequences } from "../../plan/consequences.tsx";
import type { Consequence } from "../../plan/consequences.tsx";
import { PlanDialog, knownPlan } from "../../plan/plan-dialog.tsx";
import { Partial } from "../../ui/states.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { WhenField } from "../../ui/when-field.tsx";
import styles from "./fleet.module.css";

const HOUR = 3_600_000;

export interface MaintenanceDialogProps {
  readonly node: NodeSchedule;
  readonly onClose: () => void;
}

export function MaintenanceDialog({ node, onClose }: MaintenanceDialogProps): ReactNode {
  const { berth } = useSession();
  const [from, setFrom] = useState<number | null>(() => Math.ceil(Date.now() / HOUR) * HOUR);
  const [to, setTo] = useState<number | null>(() => Math.ceil(Date.now() / HOUR) * HOUR + 4 * HOUR);
  const now = useNow(1_000);
  const missing = missingOf({ from, to, now });
  const hasBegun = missing === null && from !== null && from <= now;
  const window = { nodeId: node.id, from: from ?? 0, to: to ?? 0 };
  const plan = usePlan(window, missing === null);
  return (
    <PlanDialog
      title={`Take ${node.name} out of service`}
      onClose={onClose}
      plan={plan}
      missing={missing}
      fields={
        <div className={styles["pair"]}>
          <WhenField label="From" value={from} onChange={setFrom} />
          <WhenField label="To" value={to} onChange={setTo} error={to === null ? null : missing} />
        </div>
      }
      verb={({ healed, staying }) => {
        const verb = hasBegun ? "Begin maintenance now" : "Plan maintenance";
        return healed.length + staying.length === 0
          ? `${verb}, no booking is touched`
          : `${verb}: ${healed.length} move, ${staying.length} degraded`;
      }}
      act={({ healed, staying }) =>
        berth.fleet.scheduleMaintenance({ ...window, expect: { healed, staying } })
      }
      done={() => `Maintenance of ${node.name} ${hasBegun ? "has begun" : "is planned"}`}
    >
      {(shown) => (
        <>
          {hasBegun && (
            <Partial>
              This window has begun already: the node goes out of service at once, not at the time
              that it is said to have begun.
            </Partial>
          )}
          <Plan plan={shown} />
        </>
      )}
    </PlanDialog>
  );
}

interface MaybeWindow {
  readonly from: number | null;
  readonly to: number | null;
  readonly now: number;
}

/** Why this is no window that the server takes; null when it is. One that has begun is: the node goes out at once. */
export function missingOf({ from, to, now }: MaybeWindow): string | null {
  if (from === null || to === null || Number.isNaN(from) || Number.isNaN(to))
    return "Say from when to when.";
  if (to <= now) return "It would be over already: choose an end that is still to come.";
  return to <= from ? "It ends after it begins." : null;
}

function usePlan(window: { nodeId: string; from: number; to: number }, enabled: boolean) {
  const { berth, queries } = useSession();
  return useQuery({
    // Bookings make this plan old, so it is renewed with them.
    queryKey: [...queries.reservations.list.queryKey(), "maintenance", window],
    queryFn: ({ signal }) =>
      berth.fleet.scheduleMaintenance({ ...window, dryRun: true }, { signal }),
    enabled,
    retry: false,
    gcTime: 0,
  });
}

function Plan({ plan: { healed, staying } }: { readonly plan: MaintenancePlan }): ReactNode {
  const items = (ids: readonly string[], why: string): Consequence[] =>
    ids.map((id) => ({
      id,
      what: <CopyText text={id} shown={shortId(id)} label={`the id ${id}`} />,
      why,
    }));
  return (
    <>
      <Consequences
        tone="ends"
        heading={`${countText(staying.length, "booking")} ${staying.length === 1 ? "stays" : "stay"} on the node, degraded`}
        items={items(staying, "has begun, or there is no room elsewhere")}
      />
      <Consequences
        tone="stays"
        heading={`${countText(healed.length, "booking")} ${healed.length === 1 ? "moves" : "move"} to other nodes`}
        items={items(healed, "has not begun")}
      />
    </>
  );
}

export function CancelMaintenanceDialog({
  node,
  maintenanceId,
  onClose,
}: MaintenanceDialogProps & { readonly maintenanceId: string }): ReactNode {
  const { berth } = useSession();
  const window = node.maintenance.find(({ id }) => id === maintenanceId);
  return (
    <PlanDialog
      title={`Call off the maintenance of ${node.name}`}
      onClose={onClose}
      plan={knownPlan(node)}
      gentle
      verb={() => "Call off the maintenance"}
      act={({ version }) => berth.fleet.cancelMaintenance({ maintenanceId, version })}
      done={() => `The maintenance of ${node.name} is called off`}
      refusal={() => (window === undefined ? "There is no such window any more." : null)}
    >
      {() => (
        <Consequences
          tone="stays"
          heading={
            window && window.from <= Date.now()
              ? "The node is back in service at once; what was degraded for it is sound again"
              : "The node stays in service; bookings that moved stay where they are"
          }
          items={[]}
        />
      )}
    </PlanDialog>
  );
}
