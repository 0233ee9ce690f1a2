/** What the tenant has booked, in all pools together: now and later, and what its quota leaves. */
import type { Pool, Reservation } from "@berth/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useNow } from "../../app/now.ts";
import { togetherText } from "../../facts/describe.ts";
import { countText, number } from "../../format/gpus.ts";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { poolName } from "../pool-names.ts";
import { LIVE_STATES, useReservations } from "../use-reservations.ts";
import styles from "./pools.module.css";

interface Mine {
  readonly pool: Pool;
  readonly now: readonly Reservation[];
  readonly later: readonly Reservation[];
}

export function MinePanel({ pools }: { readonly pools: readonly Pool[] }): ReactNode {
  const query = useReservations({ state: LIVE_STATES });
  return (
    <Loaded query={query} what="bookings" lines={6}>
      {(all) => <Rows pools={pools} all={all} />}
    </Loaded>
  );
}

function Rows({
  pools,
  all,
}: {
  readonly pools: readonly Pool[];
  readonly all: readonly Reservation[];
}): ReactNode {
  const now = useNow(5_000);
  const byPool = Map.groupBy(all, ({ poolId }) => poolId);
  const rows = pools.flatMap((pool): Mine[] => {
    const mine = byPool.get(pool.id) ?? [];
    if (mine.length === 0) return [];
    const running = mine.filter(({ start }) => start <= now);
    return [{ pool, now: running, later: mine.filter(({ start }) => start > now) }];
  });
  if (rows.length === 0) return <Empty title="Nothing is booked">In none of the pools.</Empty>;
  const running = togetherText(rows.flatMap((row) => row.now));
  return (
    <>
      <p className={styles["total"]}>
        <b>{running ?? "Nothing"}</b> now, in {countText(all.length, "booking")} and{" "}
        {countText(rows.length, "pool")}
      </p>
      <div className={styles["panel"]}>
        <Table
          label="My bookings by pool"
          rows={rows}
          rowKey={({ pool }) => pool.id}
          columns={[
            {
              id: "pool",
              name: "Pool",
              cell: ({ pool }) => (
                <Link
                  to="/reservations"
                  search={({ tenant }) => ({
                    ...(tenant === undefined ? {} : { tenant }),
                    view: "table" as const,
                    pool: pool.id,
                  })}
                >
                  {poolName(pool)}
                </Link>
              ),
            },
            { id: "now", name: "Now", cell: (row) => togetherText(row.now) ?? "nothing" },
            { id: "later", name: "Later", cell: (row) => togetherText(row.later) ?? "nothing" },
            {
              id: "bookings",
              name: "Bookings",
              end: true,
              cell: (row) => number(row.now.length + row.later.length),
            },
            { id: "next", name: "Next end", cell: (row) => <NextEnd of={row.now} /> },
          ]}
        />
      </div>
    </>
  );
}

function NextEnd({ of }: { readonly of: readonly Reservation[] }): ReactNode {
  if (of.length === 0) return "none runs";
  return <Time at={Math.min(...of.map(({ end }) => end))} />;
}
