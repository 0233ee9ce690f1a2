/** The tenant's bookings: a calendar by node or by booking, and a table. */
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCan } from "../../access/use-can.ts";
import { buttonClass, Button } from "../../ui/button.tsx";
import { Segmented, Select } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { poolName, usePoolNames } from "../pool-names.ts";
import { useSetSearch } from "../use-set-search.ts";
import { Calendar } from "./calendar.tsx";
import { CalendarFeed } from "./calendar-feed.tsx";
import { ReservationTable, StateFilterField, TimeFilterField } from "./reservation-table.tsx";
import styles from "./reservations.module.css";
import type { ReservationsSearch } from "./search.ts";

export function ReservationsPage(): ReactNode {
  const search = useSearch({ from: "/reservations" });
  const set = useSetSearch<ReservationsSearch>();
  const { pools } = usePoolNames();
  const view = search.view ?? "calendar";
  const choices = [
    { value: "", name: "All pools" },
    ...pools.map((pool) => ({ value: pool.id, name: poolName(pool) })),
  ];
  return (
    <Page
      title="Reservations"
      lead="What this tenant has booked, and what others have left free"
      actions={<Actions />}
    >
      <div className={styles["filters"]}>
        <Segmented
          label="View"
          bare
          value={view}
          choices={[
            { value: "calendar", name: "Calendar" },
            { value: "table", name: "Table" },
          ]}
          onChange={(next) => set({ view: next === "table" ? next : undefined })}
        />
        <div className={styles["pool"]}>
          <Select
            label="Pool"
            value={search.pool ?? ""}
            choices={choices}
            onChange={(pool) => set({ pool: pool === "" ? undefined : pool })}
          />
        </div>
        {view === "table" && (
          <>
            <div className={styles["pool"]}>
              <StateFilterField />
            </div>
            <div className={styles["pool"]}>
              <TimeFilterField />
            </div>
          </>
        )}
      </div>
      {view === "table" ? <ReservationTable /> : <Calendar />}
    </Page>
  );
}

function Actions(): ReactNode {
  const refusal = useCan()("reservations.create");
  return (
    <>
      <CalendarFeed />
      {refusal === null ? (
        <Link
          to="/book"
          search={({ tenant }) => (tenant === undefined ? {} : { tenant })}
          className={buttonClass({ kind: "primary" })}
        >
          Book
        </Link>
      ) : (
        <Button kind="primary" reason={refusal}>
          Book
        </Button>
      )}
    </>
  );
}
