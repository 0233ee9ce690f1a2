/** What happens next to my bookings: ends, starts, leases that have to be renewed. */
import type { Reservation } from "@berth/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useNow } from "../../app/now.ts";
import { whatText } from "../../facts/describe.ts";
import { Panel } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Ago, Time } from "../../ui/time.tsx";
import { usePoolNames } from "../pool-names.ts";
import { LIVE_STATES, useReservations } from "../use-reservations.ts";
import styles from "./overview.module.css";

const MOST = 6;

interface Coming {
  readonly reservation: Reservation;
  readonly what: "starts" | "ends" | "lapses unless renewed" | "has to make way";
  readonly at: number;
}

/** The next thing that happens to a booking. */
function comingOf(reservation: Reservation, now: number): Coming {
  const { start, end, leaseExpiresAt, preemption } = reservation;
  if (preemption && preemption.endsAt > now)
    return { reservation, what: "has to make way", at: preemption.endsAt };
  if (start > now) return { reservation, what: "starts", at: start };
  if (leaseExpiresAt !== null && leaseExpiresAt < end)
    return { reservation, what: "lapses unless renewed", at: leaseExpiresAt };
  return { reservation, what: "ends", at: end };
}

export function ComingUp(): ReactNode {
  const query = useReservations({ state: LIVE_STATES });
  return (
    <Panel
      title="Coming up"
      lead="My bookings across all pools"
      flush
      actions={<Link to="/reservations">All of mine</Link>}
    >
      <Loaded query={query} what="my bookings">
        {(reservations) =>
          reservations.length === 0 ? (
            <Empty title="Nothing booked" action={<Link to="/book">Book GPUs</Link>}>
              What this tenant books shows here, the next to change first.
            </Empty>
          ) : (
            <List reservations={reservations} />
          )
        }
      </Loaded>
    </Panel>
  );
}

function List({ reservations }: { readonly reservations: readonly Reservation[] }): ReactNode {
  const now = useNow(5_000);
  const { nameOf } = usePoolNames();
  const next = reservations
    .map((each) => comingOf(each, now))
    .filter(({ at }) => at > now)
    .toSorted((a, b) => a.at - b.at);
  return (
    <ul className={styles.coming}>
      {next.slice(0, MOST).map(({ reservation, what, at }) => (
        <li key={reservation.id}>
          <Link to="." search={(before) => ({ ...before, rsv: reservation.id })}>
            {whatText(reservation)}
          </Link>
          <span>
            {what} <Ago at={at} />
          </span>
          <small dir="auto">
            {nameOf(reservation.poolId)}, <Time at={at} />
          </small>
        </li>
      ))}
      {next.length > MOST ? (
        <li>
          <small>and {next.length - MOST} more</small>
        </li>
      ) : null}
    </ul>
  );
}
