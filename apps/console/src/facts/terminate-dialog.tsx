/** Terminate: the pool's owner or an operator ends somebody's booking; its tenant reads why. */
import type { Reservation } from "@berth/client";
import { useState } from "react";
import type { ReactNode } from "react";
import { isOver } from "../access/state.ts";
import { useNow } from "../app/now.ts";
import { useSession } from "../app/session.tsx";
import { durationText } from "../format/duration.ts";
import { unitsText } from "../format/units.ts";
import { Consequences } from "../plan/consequences.tsx";
import { PlanDialog } from "../plan/plan-dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { shortId, whatText } from "./describe.ts";
import { isReservationId, useFound } from "./use-found.ts";
import type { Found } from "./use-found.ts";

export interface TerminateDialogProps {
  /** Null: the person says which. */
  readonly reservationId: string | null;
  /** The pool whose bookings it is about; absent: any that the caller may end. */
  readonly poolId?: string | undefined;
  readonly onClose: () => void;
}

export function TerminateDialog(props: TerminateDialogProps): ReactNode {
  const { reservationId, poolId, onClose } = props;
  const { berth, tenantId } = useSession();
  const [typed, setTyped] = useState(reservationId ?? "");
  const [reason, setReason] = useState("");
  const id = typed.trim();
  const plan = useFound(id);
  return (
    <PlanDialog<Found>
      title={reservationId === null ? "Terminate a booking" : "Terminate this reservation"}
      onClose={onClose}
      plan={plan}
      missing={missingOf(id, reason)}
      fields={
        <>
          {reservationId === null && (
            <TextField
              label="Booking"
              value={typed}
              autoFocus
              hint="Its id, as its tenant or the activity page gives it"
              onChange={setTyped}
            />
          )}
          <TextField
            label="Reason"
            value={reason}
            autoFocus={reservationId !== null}
            maxLength={256}
            hint="Its tenant reads it"
            onChange={setReason}
          />
        </>
      }
      verb={({ found }) => `Terminate ${found === null ? shortId(id) : whatText(found)}`}
      act={({ found }) =>
        berth.reservations.terminate({
          tenantId,
          reservationId: id,
          reason: reason.trim(),
          ...(found === null ? {} : { version: found.version }),
        })
      }
      done={({ found }) => `Terminated ${found === null ? shortId(id) : whatText(found)}`}
      refusal={({ found }) => refusalOf(found, poolId)}
    >
      {({ found }) => (found === null ? <Unseen /> : <Seen reservation={found} />)}
    </PlanDialog>
  );
}

function missingOf(id: string, reason: string): string | null {
  if (!isReservationId(id)) return "Say which booking, by its id.";
  return reason.trim() === "" ? "Say why: its tenant reads it." : null;
}

function refusalOf(found: Reservation | null, poolId: string | undefined): string | null {
  if (found === null) return null;
  if (poolId !== undefined && found.poolId !== poolId) return "It is a booking of another pool.";
  return isOver(found) ? `It is over: ${found.state}.` : null;
}

function Unseen(): ReactNode {
  return (
    <>
      <Consequences
        tone="ends"
        heading="The booking ends now; what runs on it is cut off"
        items={[]}
      />
      <Consequences
        tone="stays"
        heading="It is another tenant's, so what it holds is not told to you; nothing else ends"
        items={[]}
      />
    </>
  );
}

function Seen({ reservation }: { readonly reservation: Reservation }): ReactNode {
  const now = useNow(1_000);
  const { end, members, start, tenantId } = reservation;
  const left = durationText(end - Math.max(now, start));
  return (
    <>
      <Consequences
        tone="ends"
        heading={
          start <= now
            ? `${whatText(reservation)} of ${tenantId}: ends now, ${left} before its end`
            : `${whatText(reservation)} of ${tenantId}: is gone before it begins, for ${left}`
        }
        items={(members ?? []).map(({ atoms, index, nodeName }) => ({
          id: String(index),
          what: nodeName,
          why: unitsText(atoms),
        }))}
      />
      <Consequences
        tone="stays"
        heading="All members go together, and no other booking is touched"
        items={[]}
      />
    </>
  );
}
