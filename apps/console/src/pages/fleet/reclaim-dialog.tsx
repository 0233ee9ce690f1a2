/** Reclaim: the dry run is the first thing that is done, and what ends is exactly what it showed, or nothing. */
import type { Reservation } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSession } from "../../app/session.tsx";
import { shortId, whatText } from "../../facts/describe.ts";
import { countText, gpusText } from "../../format/gpus.ts";
import { Consequences } from "../../plan/consequences.tsx";
import { PlanDialog } from "../../plan/plan-dialog.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { Countdown } from "../../ui/time.tsx";
import { nodeName } from "./aside.ts";
import type { AsideDialogProps } from "./aside.ts";
import { useNamedReservations } from "./use-named-reservations.ts";

export function ReclaimDialog({ of, nodes, owners, onClose }: AsideDialogProps): ReactNode {
  const { berth, queries } = useSession();
  const ref = { nodeId: of.nodeId, reservationId: of.id };
  const plan = useQuery({
    // Bookings make this plan old, so it is renewed with them.
    queryKey: [...queries.reservations.list.queryKey(), "reclaim", ref],
    queryFn: ({ signal }) => berth.unitReservations.reclaim({ ...ref, dryRun: true }, { signal }),
    retry: false,
    gcTime: 0,
  });
  const { wouldTerminate: ends = [], wouldSkip: stays = [] } = plan.data ?? {};
  const named = useNamedReservations({
    ids: [...ends, ...stays],
    poolId: nodes.get(of.nodeId)?.poolId ?? null,
    owners,
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
            items={wouldTerminate.map((id) => ({
              id,
              what: <Named id={id} of={named.get(id)} />,
              why: "spot: ends as a whole",
            }))}
          />
          <Consequences
            tone="stays"
            heading={`${countText(wouldSkip.length, "reservation")} ${wouldSkip.length === 1 ? "stays" : "stay"}`}
            items={wouldSkip.map((id) => ({
              id,
              what: <Named id={id} of={named.get(id)} />,
              why: "not spot: runs to its end",
            }))}
          />
        </>
      )}
    </PlanDialog>
  );
}

/** `robotics: 8 GPUs, 2 h left`, as far as the caller may know; the id in any case. */
function Named({
  id,
  of,
}: {
  readonly id: string;
  readonly of: Reservation | undefined;
}): ReactNode {
  return (
    <>
      {of && (
        <>
          <b dir="auto">{of.tenantId}</b>: {whatText(of)}, <Countdown to={of.end} /> left{" "}
        </>
      )}
      <CopyText text={id} shown={shortId(id)} label={`the id ${id}`} />
    </>
  );
}
