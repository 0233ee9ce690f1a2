/** End and reaffirm: both say what comes of it before they are done. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSession } from "../../app/session.tsx";
import { gpusText } from "../../format/gpus.ts";
import { Consequences } from "../../plan/consequences.tsx";
import { PlanDialog } from "../../plan/plan-dialog.tsx";
import { nodeName } from "./aside.ts";
import type { AsideDialogProps } from "./aside.ts";

function useAside({ of }: AsideDialogProps) {
  const { queries } = useSession();
  const ref = { nodeId: of.nodeId, reservationId: of.id };
  return { ref, plan: useQuery(queries.unitReservations.get.queryOptions(ref)) };
}

export function CancelDialog(props: AsideDialogProps): ReactNode {
  const { berth } = useSession();
  const { ref, plan } = useAside(props);
  const { nodes, of, onClose } = props;
  return (
    <PlanDialog
      title={`Set aside no longer: ${nodeName(nodes, of.nodeId)}`}
      onClose={onClose}
      plan={plan}
      verb={({ reservedUnitIds }) => `Give back ${gpusText(reservedUnitIds.length)}`}
      act={() => berth.unitReservations.cancel(ref)}
      done={({ reservedUnitIds }) => `${gpusText(reservedUnitIds.length)} given back`}
      refusal={({ status }) => (status === "cancelled" ? "It is over already." : null)}
    >
      {({ allowedOrgIds, reservedUnitIds }) => (
        <>
          <Consequences
            tone="ends"
            heading={`${gpusText(reservedUnitIds.length)} are kept for nobody any more`}
            items={allowedOrgIds.map((id) => ({
              id,
              what: id,
              why: "books them like everyone else",
            }))}
          />
          <Consequences
            tone="stays"
            heading="Reservations on them live on as they are"
            items={[]}
          />
        </>
      )}
    </PlanDialog>
  );
}

export function ReaffirmDialog(props: AsideDialogProps): ReactNode {
  const { berth } = useSession();
  const { ref, plan } = useAside(props);
  const { nodes, of, onClose } = props;
  const node = nodes.get(of.nodeId);
  const here = new Set((node?.units ?? []).map(({ id }) => id));
  return (
    <PlanDialog
      title={`Reaffirm for ${nodeName(nodes, of.nodeId)} as it is now`}
      onClose={onClose}
      plan={plan}
      gentle
      verb={({ reservedUnitIds }) => `Reaffirm ${gpusText(reservedUnitIds.length)}`}
      act={() => berth.unitReservations.reaffirm(ref)}
      done={() => "Reaffirmed"}
      refusal={({ status }) => (status === "needs-review" ? null : "It needs no review.")}
    >
      {({ reservedUnitIds, topologyGen }) => (
        <>
          <p>
            It was made for generation {topologyGen ?? "?"} of the node
            {node && <>, which is at generation {node.topologyGen} now</>}. Look at the GPUs before
            you say that it holds.
          </p>
          <Consequences
            tone="stays"
            heading={`${gpusText(reservedUnitIds.length)} stay set aside`}
            items={reservedUnitIds.map((id) => ({
              id,
              what: <code>{id}</code>,
              why: here.has(id) ? "still on the node" : "not seen on the node",
            }))}
          />
        </>
      )}
    </PlanDialog>
  );
}
