/** A booking that the tenant in view has not: whose it is, as far as the caller may know, and what they may do to it. */
import type { Reservation } from "@berth/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ReactNode } from "react";
import { useCan } from "../access/use-can.ts";
import { usePoolNames } from "../pages/pool-names.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { Loaded } from "../ui/states.tsx";
import { TimeRange } from "../ui/time.tsx";
import { whatText } from "./describe.ts";
import styles from "./facts.module.css";
import { TerminateDialog } from "./terminate-dialog.tsx";
import { useFound } from "./use-found.ts";

export function Elsewhere({ reservationId }: { readonly reservationId: string }): ReactNode {
  const query = useFound(reservationId);
  return (
    <Loaded query={query} what="whose it is" lines={3}>
      {({ found }) =>
        found === null ? <Unseen reservationId={reservationId} /> : <OfOther reservation={found} />
      }
    </Loaded>
  );
}

/** It is another tenant's that the caller may read: one press away. */
export function OfOther({ reservation }: { readonly reservation: Reservation }): ReactNode {
  const { id, end, start, tenantId } = reservation;
  return (
    <div className={styles["elsewhere"]}>
      <p>
        <bdi>{tenantId}</bdi>: {whatText(reservation)}, <TimeRange start={start} end={end} />
      </p>
      <Link
        to="."
        search={(all) => ({ ...all, tenant: tenantId, rsv: id })}
        className={buttonClass({ size: "small" })}
      >
        <span>
          Show it as <bdi>{tenantId}</bdi>
        </span>
      </Link>
    </div>
  );
}

/** The API tells nobody but the tenant of a booking, the pool's owner neither; to end it an owner needs its id alone. */
function Unseen({ reservationId }: { readonly reservationId: string }): ReactNode {
  return (
    <div className={styles["elsewhere"]} role="status">
      <p>
        No tenant that you may read has this reservation. Of others&rsquo; bookings the owner of a
        pool is told the time and the units; to end one, its id is enough.
      </p>
      <EndById reservationId={reservationId} />
    </div>
  );
}

export interface EndByIdProps {
  /** Null: the person says which. */
  readonly reservationId: string | null;
  /** The pool that it is in; absent: it is not known, and any of the caller's own will do. */
  readonly poolId?: string | undefined;
}

/** The button with its dialog; dead, with the reason, for who owns no such pool. */
export function EndById({ reservationId, poolId }: EndByIdProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { pools } = usePoolNames();
  const known = pools.find(({ id, owned }) => (poolId === undefined ? owned : id === poolId));
  const pool = known ?? { id: poolId ?? "", owned: false, archived: false };
  const refusal = useCan()("reservations.terminate", { pool });
  return (
    <>
      <Button size="small" reason={refusal} onPress={() => setOpen(true)}>
        {reservationId === null ? "Terminate a booking" : "Terminate it"}
      </Button>
      {isOpen && (
        <TerminateDialog
          reservationId={reservationId}
          poolId={poolId}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
