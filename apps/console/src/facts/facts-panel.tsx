/**
 * The facts of the selected reservation, beside whatever page it was selected on. `?rsv=` names it, so a link to a page
 * brings the selection along.
 */
import { isBerthError } from "@berth/client";
import type { Reservation } from "@berth/client";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import type { ReactNode } from "react";
import { defined } from "../app/search.ts";
import { isNoId } from "../format/fault.ts";
import { modelText } from "../format/gpus.ts";
import { Button } from "../ui/button.tsx";
import { StateChip } from "../ui/chip.tsx";
import { CopyText } from "../ui/copy.tsx";
import { ErrorBox, Loading } from "../ui/states.tsx";
import { Ago, Countdown, Time, TimeRange } from "../ui/time.tsx";
import { useNow } from "../app/now.ts";
import { isOver } from "../access/state.ts";
import { usePoolNames } from "../pages/pool-names.ts";
import { whatText, shortId } from "./describe.ts";
import { Elsewhere } from "./elsewhere.tsx";
import { FactsActions } from "./facts-actions.tsx";
import { FactsEvents } from "./facts-events.tsx";
import { FactsMembers } from "./facts-members.tsx";
import { concernedText } from "./atoms.ts";
import styles from "./facts.module.css";
import { useReservation } from "./use-reservation.ts";

/** Nothing when nothing is selected. */
export function FactsPanel(): ReactNode {
  const { rsv } = useSearch({ strict: false });
  const navigate = useNavigate();
  const isOpen = rsv !== undefined && rsv !== "";
  const close = (): void =>
    void navigate({ to: ".", search: (all) => ({ ...all, rsv: undefined }), replace: true });
  useEffect(() => {
    if (!isOpen) return;
    const onKey = ({ key, defaultPrevented, target }: KeyboardEvent): void => {
      const isTyping = (target as HTMLElement | null)?.closest("input, textarea, [role=dialog]");
      if (key === "Escape" && !defaultPrevented && !isTyping) close();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
  if (!isOpen) return null;
  return (
    <aside className={styles["panel"]} aria-label="Facts of the reservation">
      <Facts key={rsv} reservationId={rsv} onClose={close} />
    </aside>
  );
}

function Facts({
  reservationId,
  onClose,
}: {
  readonly reservationId: string;
  readonly onClose: () => void;
}): ReactNode {
  const { data, error, refetch } = useReservation(reservationId);
  return (
    <>
      <header className={styles["head"]}>
        <h2>{data === undefined ? shortId(reservationId) : whatText(data)}</h2>
        <Button kind="quiet" size="icon" label="Close the facts" onPress={onClose}>
          <span aria-hidden="true">✕</span>
        </Button>
      </header>
      {data !== undefined && <Body reservation={data} />}
      {data === undefined && error === null && <Loading what="the reservation" lines={4} />}
      {data === undefined &&
        error !== null &&
        (isBerthError(error, "NOT_FOUND") || isNoId(error, "reservationId") ? (
          <Elsewhere reservationId={reservationId} />
        ) : (
          <ErrorBox error={error} onRetry={() => void refetch()} />
        ))}
    </>
  );
}

function Body({ reservation }: { readonly reservation: Reservation }): ReactNode {
  return (
    <>
      <div className={styles["chips"]}>
        <StateChip state={reservation.state} />
        {reservation.spot && <span className={styles["spot"]}>~ spot</span>}
        <CopyText
          text={reservation.id}
          shown={shortId(reservation.id)}
          label="the reservation's id"
        />
      </div>
      <Warnings reservation={reservation} />
      <When reservation={reservation} />
      <FactsActions reservation={reservation} />
      <FactsMembers reservation={reservation} />
      <Rest reservation={reservation} />
      <FactsEvents reservationId={reservation.id} />
    </>
  );
}

function Warnings({ reservation }: { readonly reservation: Reservation }): ReactNode {
  const { degraded, preemption } = reservation;
  return (
    <>
      {preemption !== null && !isOver(reservation) && (
        <p className={styles["warning"]} role="status">
          <b>▲ Under notice.</b> It makes way for another booking and ends{" "}
          <Time at={preemption.endsAt} />, in <Countdown to={preemption.endsAt} />.
        </p>
      )}
      {degraded !== null && (
        <p className={styles["warning"]} role="status">
          <b>▲ Degraded</b> <Ago at={degraded.since} />:{" "}
          {DEGRADED[degraded.cause] ?? degraded.cause}. It concerns{" "}
          <bdi>{concernedText(reservation, degraded.unitIds)}</bdi>.
        </p>
      )}
    </>
  );
}

const DEGRADED: Readonly<Record<string, string>> = {
  NODE_STATE: "its node is out of service",
  MAINTENANCE: "its node is in maintenance",
  UNHEALTHY: "units are faulty",
  REMOVED: "units are no longer reported",
  NEEDS_REVIEW: "its node has changed and needs a review",
};

function When({ reservation }: { readonly reservation: Reservation }): ReactNode {
  const now = useNow(1_000);
  const { end, endReason, endedAt, leaseExpiresAt, leaseSeconds, start } = reservation;
  const over = isOver(reservation);
  return (
    <dl className={styles["facts"]}>
      <dt>When</dt>
      <dd>
        <TimeRange start={start} end={end} />
      </dd>
      {over && endedAt !== null && (
        <>
          <dt>Ended</dt>
          <dd>
            <Time at={endedAt} />
            {endReason !== null && <span dir="auto">: {endReason}</span>}
          </dd>
        </>
      )}
      {!over && (
        <>
          <dt>{now < start ? "Begins in" : "Ends in"}</dt>
          <dd>
            <Countdown to={now < start ? start : end} />
          </dd>
        </>
      )}
      {!over && leaseSeconds !== null && leaseExpiresAt !== null && (
        <>
          <dt>Lease</dt>
          <dd>
            <Lease to={leaseExpiresAt} seconds={leaseSeconds} now={now} />
          </dd>
        </>
      )}
    </dl>
  );
}

function Lease({ to, seconds, now }: { to: number; seconds: number; now: number }): ReactNode {
  const left = Math.max(0, Math.min(1, (to - now) / (seconds * 1_000)));
  return (
    <div className={styles["lease"]} data-low={left < 0.25}>
      <span>
        lapses in <Countdown to={to} /> unless renewed
      </span>
      <span className={styles["leaseBar"]} aria-hidden="true">
        <i style={{ width: `${left * 100}%` }} />
      </span>
    </div>
  );
}

function Rest({ reservation }: { readonly reservation: Reservation }): ReactNode {
  const { nameOf } = usePoolNames();
  const { binding, createdAt, createdBy, devices, poolId, projectId, resources } = reservation;
  const models = devices.flatMap(({ selector }) => (selector?.model ? [selector.model] : []));
  const scalars = [
    resources.vcpu > 0 ? `${resources.vcpu} vCPU` : null,
    resources.memoryGiB > 0 ? `${resources.memoryGiB} GiB memory` : null,
    resources.hugepages1Gi > 0 ? `${resources.hugepages1Gi} huge pages of 1 GiB` : null,
  ].filter((text) => text !== null);
  return (
    <dl className={styles["facts"]}>
      <dt>Pool</dt>
      <dd>
        <Link
          to="/pools/$poolId"
          params={{ poolId }}
          search={({ rsv, tenant }) => defined({ rsv, tenant })}
        >
          {nameOf(poolId)}
        </Link>
      </dd>
      {models.length > 0 && <dt>Model</dt>}
      {models.length > 0 && <dd>{models.map(modelText).join(", ")}</dd>}
      {scalars.length > 0 && <dt>With</dt>}
      {scalars.length > 0 && <dd>{scalars.join(", ")}</dd>}
      <dt>Kind</dt>
      <dd>{binding === "node" ? "leased nodes" : "booked units"}</dd>
      {projectId !== null && <dt>Project</dt>}
      {projectId !== null && <dd>{shortId(projectId)}</dd>}
      <dt>Made</dt>
      <dd>
        <Time at={createdAt} /> by <span dir="auto">{createdBy}</span>
      </dd>
    </dl>
  );
}
