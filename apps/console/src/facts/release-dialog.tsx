/** Release: what it frees is shown first, and it is done to exactly that version of the reservation. */
import type { Reservation } from "@berth/client";
import type { ReactNode } from "react";
import { isOver } from "../access/state.ts";
import { useNow } from "../app/now.ts";
import { useSession } from "../app/session.tsx";
import { durationText } from "../format/duration.ts";
import { unitsText } from "../format/units.ts";
import { Consequences } from "../plan/consequences.tsx";
import { PlanDialog } from "../plan/plan-dialog.tsx";
import { whatText } from "./describe.ts";
import { useReservation } from "./use-reservation.ts";

export function ReleaseDialog({
  reservationId,
  onClose,
}: {
  readonly reservationId: string;
  readonly onClose: () => void;
}): ReactNode {
  const { berth, tenantId } = useSession();
  const plan = useReservation(reservationId);
  return (
    <PlanDialog
      title="Release this reservation"
      onClose={onClose}
      plan={plan}
      verb={(shown) => `Release ${whatText(shown)}`}
      act={({ version }) => berth.reservations.release({ tenantId, reservationId, version })}
      done={(shown) => `Released ${whatText(shown)}`}
      refusal={(shown) => (isOver(shown) ? `It is over: ${shown.state}.` : null)}
    >
      {(shown) =>
        isOver(shown) ? <Over reservation={shown} /> : <ReleasePlan reservation={shown} />
      }
    </PlanDialog>
  );
}

/** Ended meanwhile, by whomever: there is nothing left that a release would do. */
function Over({ reservation: { state } }: { readonly reservation: Reservation }): ReactNode {
  return (
    <Consequences
      tone="stays"
      heading={`It is over already: ${state}. There is nothing left to release`}
      items={[]}
    />
  );
}

function ReleasePlan({ reservation }: { readonly reservation: Reservation }): ReactNode {
  const now = useNow(1_000);
  const { end, members, start, state } = reservation;
  const hasBegun = start <= now;
  const unused = durationText(end - Math.max(now, start));
  const nodes = (members ?? []).map(({ index, nodeName, atoms }) => ({
    id: String(index),
    what: nodeName,
    why: unitsText(atoms),
  }));
  return (
    <>
      <Consequences
        tone="ends"
        heading={
          hasBegun
            ? `Ends now, ${unused} before its end; what runs on it is cut off`
            : `Is gone before it begins; ${unused} go back to the pool`
        }
        items={nodes}
      />
      <Consequences
        tone="stays"
        heading={
          state === "preempting"
            ? "It is under notice: releasing early lets the other booking begin"
            : "All members go together, and nothing else of yours is touched"
        }
        items={[]}
      />
    </>
  );
}
