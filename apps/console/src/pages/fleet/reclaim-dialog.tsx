/** Reclaim: the dry run is the first thing that is done, and what ends is exactly what it showed, or nothing. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSession } from "../../app/session.tsx";
import { shortId } from "../../facts/describe.ts";
import { countText, gpusText } from "../../format/gpus.ts";
import { Consequences } from "../../plan/consequences.tsx";
import { PlanDialog } from "../../plan/plan-dialog.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { nodeName } from "./aside.ts";
import type { AsideDialogProps } from "./aside.ts";

export function ReclaimDialog({ of, nodes, onClose }: AsideDialogProps): ReactNode {
  const { berth, queries } = useSession();
  const ref = { nodeId: of.nodeId, reservationId: of.id };
  const plan = useQuery({
    // Bookings make this plan old, so it is renewed with them.
    queryKey: [...queries.reservations.list.queryKey(), "reclaim", ref],
    queryFn: ({ signal }) => berth.unitReservations.reclaim({ ...ref, dryRun: true }, { signal }),
    retry: false,
    gcTime: 0,
  });
  const where = nodeName(nodes, of.nodeId);
  return (
    <PlanDialog
      title={`Take back ${gpusText(of.releasedUnitIds?.length ?? 0)} on ${where} from spot`}
      onClose={onClose}
      plan={plan}
      verb={({ wouldTerminate = [] }) =>
        wouldTerminate.length === 0
          ? "Take back, nothing ends"
          : `Terminate ${countText(wouldTerminate.length, "spot reservation")}`
      }
      act={({ wouldTerminate = [] }) =>
        berth.unitReservations.reclaim({ ...ref, expect: wouldTerminate })
      }
      done={({ wouldTerminate = [] }) =>
        `Taken back; ${countText(wouldTerminate.length, "spot reservation")} ended`
      }
    >
      {({ wouldSkip = [], wouldTerminate = [] }) => (
        <>
          <Consequences
            tone="ends"
            heading={`${countText(wouldTerminate.length, "spot reservation")} ${wouldTerminate.length === 1 ? "ends" : "end"} now, without notice`}
            items={wouldTerminate.map((id) => item(id, "spot: ends as a whole"))}
          />
          <Consequences
            tone="stays"
            heading={`${countText(wouldSkip.length, "reservation")} ${wouldSkip.length === 1 ? "stays" : "stay"}`}
            items={wouldSkip.map((id) => item(id, "not spot: runs to its end"))}
          />
        </>
      )}
    </PlanDialog>
  );
}

function item(id: string, why: string): { id: string; what: ReactNode; why: string } {
  return { id, what: <CopyText text={id} shown={shortId(id)} label={`the id ${id}`} />, why };
}
