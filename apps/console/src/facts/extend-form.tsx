/** Extend: each length is asked of the server as a what-if before the button is live. */
import { isBerthError } from "@berth/client";
import type { Reservation } from "@berth/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { toast } from "sonner";
import { useSession } from "../app/session.tsx";
import { useZone } from "../app/zone.tsx";
import { LENGTH_HINT, durationText, lengthFault, parseDuration } from "../format/duration.ts";
import { faultText } from "../format/fault.ts";
import { timeText } from "../format/time.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { ErrorBox } from "../ui/states.tsx";
import styles from "./facts.module.css";

const HOUR = 3_600_000;
const LENGTHS = [HOUR, 4 * HOUR, 24 * HOUR, 7 * 24 * HOUR] as const;

export function ExtendForm({
  reservation,
  onDone,
}: {
  readonly reservation: Reservation;
  readonly onDone: () => void;
}): ReactNode {
  const { zone } = useZone();
  const [by, setBy] = useState("1h");
  const ms = parseDuration(by);
  const end = ms === null ? null : reservation.end + ms;
  const plan = useExtendPlan(reservation, end);
  const extend = useExtend(reservation, onDone);
  const wrong = lengthFault(by);
  const reason = wrong ?? whyNot(plan);
  return (
    <form
      className={styles["extend"]}
      onSubmit={(event) => {
        event.preventDefault();
        if (end !== null && reason === null) extend.mutate(end);
      }}
    >
      <div className={styles["lengths"]}>
        {LENGTHS.map((length) => (
          <Button
            key={length}
            size="small"
            pressed={length === ms}
            onPress={() => setBy(durationText(length).replaceAll(" ", ""))}
          >
            +{durationText(length)}
          </Button>
        ))}
      </div>
      <TextField label="Longer by" value={by} onChange={setBy} error={wrong} hint={LENGTH_HINT} />
      {wrong === null ? (
        <Verdict plan={plan} onLatest={(latest) => extend.mutate(latest)} zone={zone} />
      ) : null}
      {extend.error !== null && <ErrorBox error={extend.error} />}
      <Button kind="primary" type="submit" reason={reason} busy={extend.isPending}>
        {end === null ? "Extend" : `Extend to ${timeText(end, zone)}`}
      </Button>
    </form>
  );
}

type Plan = ReturnType<typeof useExtendPlan>;

/** The key begins as the reservation's own, so that whatever renews that renews the what-if. */
function useExtendPlan({ id, version }: Reservation, end: number | null) {
  const { berth, queries, tenantId } = useSession();
  const input = { tenantId, reservationId: id };
  return useQuery({
    queryKey: [...queries.reservations.get.queryKey(input), "extend", end, version],
    queryFn: ({ signal }) =>
      berth.reservations.extend({ ...input, end: end ?? 0, version, dryRun: true }, { signal }),
    enabled: end !== null,
    retry: false,
  });
}

function useExtend({ id, version }: Reservation, onDone: () => void) {
  const { berth, tenantId } = useSession();
  const client = useQueryClient();
  const { zone } = useZone();
  return useMutation({
    mutationFn: (end: number) =>
      berth.reservations.extend({ tenantId, reservationId: id, end, version }),
    onSuccess: ({ end }) => {
      toast.success(`Extended to ${timeText(end, zone)}`);
      void client.invalidateQueries();
      onDone();
    },
  });
}

function whyNot({ error, isFetching }: Plan): string | null {
  if (isFetching) return "It is being asked whether that fits.";
  return error === null ? null : faultText(error);
}

/** Fits, or why not; where the server knows the latest end that fits, that is a button. */
function Verdict({
  plan,
  onLatest,
  zone,
}: {
  readonly plan: Plan;
  readonly onLatest: (end: number) => void;
  readonly zone: string;
}): ReactNode {
  const { data, error } = plan;
  if (error !== null) {
    const latest = isBerthError(error, "NO_CAPACITY") ? error.details.latestEnd : null;
    return (
      <div className={styles["verdict"]} role="status" data-fits="false">
        <span>✕ {faultText(error)}</span>
        {latest !== null && (
          <Button size="small" onPress={() => onLatest(latest)}>
            Extend to {timeText(latest, zone)} instead
          </Button>
        )}
      </div>
    );
  }
  return (
    <div className={styles["verdict"]} role="status" data-fits={data !== undefined}>
      {data === undefined ? "Asking whether that fits" : "✓ Fits, on the same units"}
    </div>
  );
}
