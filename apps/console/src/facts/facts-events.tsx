/** What happened to the reservation, newest first. */
import type { Event } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSession } from "../app/session.tsx";
import { Loaded } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import styles from "./facts.module.css";

/** More than this many is the trail of a lease that is renewed by the minute. */
const MOST = 200;

export function FactsEvents({ reservationId }: { readonly reservationId: string }): ReactNode {
  const { queries, tenantId } = useSession();
  const input = { tenantId, reservationId, limit: MOST };
  const query = useQuery(queries.events.list.queryOptions(input));
  return (
    <section className={styles["section"]}>
      <h3>What happened</h3>
      <Loaded query={query} what="events">
        {({ events, nextCursor }) => (
          <ol className={styles["events"]} aria-label="Events of the reservation">
            {nextCursor !== null && <li>Only the first {MOST} are shown.</li>}
            {events.toReversed().map((event) => (
              <li key={event.id}>
                <span>{eventText(event)}</span>
                <small>
                  <Time at={event.at} />
                </small>
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </section>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  "reservation.created": "booked",
  "reservation.activated": "begun",
  "reservation.renewed": "lease renewed",
  "reservation.extended": "extended",
  "reservation.preempting": "given notice",
  "reservation.preempted": "ended to make way",
  "reservation.reprieved": "may stay after all",
  "reservation.healed": "moved to other units",
  "reservation.degraded": "degraded",
  "reservation.endingSoon": "ends soon",
  "reservation.completed": "came to its end",
  "reservation.released": "released",
  "reservation.expired": "lease lapsed",
  "reservation.terminated": "ended by an operator",
};

function eventText({ data, type }: Event): string {
  const words = WORDS[type] ?? type;
  const reason = "endReason" in data && data.endReason !== null ? `: ${data.endReason}` : "";
  return `${words}${type === "reservation.terminated" ? reason : ""}`;
}
