/** What may be done to the reservation; what may not is there as well, with its reason. */
import type { Reservation } from "@berth/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { toast } from "../ui/toast.ts";
import { useCan } from "../access/use-can.ts";
import { useSession } from "../app/session.tsx";
import { usePoolNames } from "../pages/pool-names.ts";
import { Button } from "../ui/button.tsx";
import { ErrorBox } from "../ui/states.tsx";
import { ExtendForm } from "./extend-form.tsx";
import styles from "./facts.module.css";
import { ReleaseDialog } from "./release-dialog.tsx";
import { useRepeat } from "./repeat.ts";
import { TerminateDialog } from "./terminate-dialog.tsx";

export function FactsActions({ reservation }: { readonly reservation: Reservation }): ReactNode {
  const may = useCan();
  const [open, setOpen] = useState<"extend" | "release" | "terminate" | null>(null);
  const row = { reservation };
  const renew = useRenew(reservation);
  const repeat = useRepeat(reservation);
  return (
    <>
      <div className={styles["actions"]}>
        <Button
          size="small"
          reason={may("reservations.renew", row)}
          busy={renew.isPending}
          onPress={() => renew.mutate()}
        >
          Renew
        </Button>
        <Button
          size="small"
          reason={may("reservations.extend", row)}
          pressed={open === "extend"}
          onPress={() => setOpen(open === "extend" ? null : "extend")}
        >
          Extend
        </Button>
        <Button size="small" reason={may("reservations.create", row)} onPress={repeat}>
          Book again
        </Button>
        <Button
          size="small"
          reason={may("reservations.release", row)}
          onPress={() => setOpen("release")}
        >
          Release
        </Button>
        <Terminate reservation={reservation} onOpen={() => setOpen("terminate")} />
      </div>
      {renew.error !== null && <ErrorBox error={renew.error} />}
      {open === "extend" && may("reservations.extend", row) === null && (
        <ExtendForm reservation={reservation} onDone={() => setOpen(null)} />
      )}
      {open === "release" && (
        <ReleaseDialog reservationId={reservation.id} onClose={() => setOpen(null)} />
      )}
      {open === "terminate" && (
        <TerminateDialog reservationId={reservation.id} onClose={() => setOpen(null)} />
      )}
    </>
  );
}

interface TerminateProps {
  readonly reservation: Reservation;
  onOpen(): void;
}

/** A pool that the tenant sees no longer is not its own. */
function Terminate({ reservation, onOpen }: TerminateProps): ReactNode {
  const { pools } = usePoolNames();
  const { poolId } = reservation;
  const pool = pools.find(({ id }) => id === poolId) ?? { ...OTHERS, id: poolId };
  const refusal = useCan()("reservations.terminate", { pool, reservation });
  return (
    <Button size="small" reason={refusal} onPress={onOpen}>
      Terminate
    </Button>
  );
}

const OTHERS = { owned: false, archived: false };

function useRenew({ id }: Reservation) {
  const { berth, tenantId } = useSession();
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => berth.reservations.renew({ tenantId, reservationId: id }),
    onSuccess: () => {
      toast.success("Renewed");
      void client.invalidateQueries();
    },
  });
}
