/** The tenant's bookings as a table, with a filter by state. */
import type { Reservation, ReservationState } from "@berth/client";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { isOver } from "../../access/state.ts";
import { useNow } from "../../app/now.ts";
import { shortId, whatText } from "../../facts/describe.ts";
import { StateChip } from "../../ui/chip.tsx";
import { Select } from "../../ui/field.tsx";
import { Empty, Loaded, Partial } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { Countdown, TimeRange } from "../../ui/time.tsx";
import { usePoolNames } from "../pool-names.ts";
import { LIVE_STATES, RESERVATIONS_MAX, useReservations } from "../use-reservations.ts";
import { useSetSearch } from "../use-set-search.ts";
import styles from "./reservations.module.css";
import { inOrder, windowOf } from "./order.ts";
import type { Within } from "./order.ts";
import { STATES } from "./search.ts";
import type { ReservationsSearch, StateFilter } from "./search.ts";

export function ReservationTable(): ReactNode {
  const { pool: poolId, state: chosen, within } = useSearch({ from: "/reservations" });
  const state: StateFilter = chosen ?? "live";
  const query = useReservations({
    ...(poolId === undefined ? {} : { poolId }),
    ...statesOf(state),
    ...windowOf(within, useNow(60_000)),
  });
  return (
    <Loaded query={query} what="reservations" lines={8}>
      {(all) =>
        all.length === 0 ? (
          <Empty title="No reservations">
            {within !== undefined && "None is in this time. "}
            {state === "live" ? "Nothing is booked now or later." : "None is in this state."}
          </Empty>
        ) : (
          <>
            {all.length === RESERVATIONS_MAX && (
              <Partial>
                Only the newest {RESERVATIONS_MAX} are shown: choose a pool or a state.
              </Partial>
            )}
            <Rows reservations={inOrder(all)} />
          </>
        )
      }
    </Loaded>
  );
}

const NAMES: Readonly<Record<StateFilter, string>> = {
  live: "Not over",
  all: "All",
  scheduled: "Scheduled",
  active: "Active",
  preempting: "Under notice",
  completed: "Completed",
  released: "Released",
  expired: "Lapsed",
  preempted: "Preempted",
  terminated: "Terminated",
};

/** For the row of filters. */
export function StateFilterField(): ReactNode {
  const { state } = useSearch({ from: "/reservations" });
  const set = useSetSearch<ReservationsSearch>();
  return (
    <Select
      label="State"
      value={state ?? "live"}
      choices={STATES.map((value) => ({ value, name: NAMES[value] }))}
      onChange={(next) => set({ state: next === "live" ? undefined : next })}
    />
  );
}

const SPANS: Readonly<Record<Within, string>> = {
  "24h": "24 hours from now",
  "7d": "7 days from now",
  "30d": "30 days from now",
};

/** Only what has a part in the time ahead. */
export function TimeFilterField(): ReactNode {
  const { within } = useSearch({ from: "/reservations" });
  const set = useSetSearch<ReservationsSearch>();
  return (
    <Select
      label="Time"
      value={within ?? ""}
      choices={[
        { value: "" as const, name: "Any time" },
        ...(["24h", "7d", "30d"] as const).map((value) => ({ value, name: SPANS[value] })),
      ]}
      onChange={(next) => set({ within: next === "" ? undefined : next })}
    />
  );
}

function statesOf(state: StateFilter): { state?: ReservationState[] } {
  if (state === "all") return {};
  return { state: state === "live" ? LIVE_STATES : [state] };
}

function Rows({ reservations }: { readonly reservations: readonly Reservation[] }): ReactNode {
  const { rsv } = useSearch({ from: "/reservations" });
  const { nameOf } = usePoolNames();
  return (
    <div className={styles["panel"]}>
      <Table
        label="Reservations"
        rows={reservations}
        rowKey={({ id }) => id}
        isSelected={({ id }) => id === rsv}
        columns={[
          {
            id: "what",
            name: "What",
            cell: (row) => (
              <Link to="." search={(all) => ({ ...all, rsv: row.id })} className={styles["what"]}>
                {whatText(row)}
                {row.spot && " ~ spot"}
              </Link>
            ),
          },
          { id: "state", name: "State", cell: ({ state }) => <StateChip state={state} /> },
          {
            id: "when",
            name: "When",
            cell: (row) => <TimeRange start={row.start} end={row.end} />,
          },
          { id: "pool", name: "Pool", cell: ({ poolId }) => nameOf(poolId) },
          { id: "lease", name: "Lease", cell: (row) => <LeaseText reservation={row} /> },
          {
            id: "id",
            name: "Id",
            cell: ({ id }) => (
              <code title={id} className={styles["id"]}>
                {shortId(id)}
              </code>
            ),
          },
        ]}
      />
    </div>
  );
}

function LeaseText({ reservation }: { readonly reservation: Reservation }): ReactNode {
  const { leaseExpiresAt } = reservation;
  if (leaseExpiresAt === null || isOver(reservation)) return "none";
  return (
    <>
      lapses in <Countdown to={leaseExpiresAt} />
    </>
  );
}
