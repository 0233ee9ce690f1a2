/** What the pool counts, and beside it what the tenant's quota leaves: two denominators, told apart. */
import type { CapacityRow, Pool, QuotaView } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSession } from "../../app/session.tsx";
import { BOTH_HINT, RESERVED, UNBOOKED, headOf } from "../../format/free.ts";
import { number } from "../../format/gpus.ts";
import { Bar } from "../../ui/bar.tsx";
import type { Part } from "../../ui/bar.tsx";
import { Panel } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import type { Column } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import styles from "./pool.module.css";
import { limitOf } from "./quota-text.ts";
import { byResource, resourceText } from "./resources.ts";

export function CapacityPanel({ pool }: { readonly pool: Pool }): ReactNode {
  const { queries, tenantId } = useSession();
  const input = { tenantId, poolId: pool.id };
  const query = useQuery(queries.capacity.byPool.queryOptions(input));
  const written = query.data?.capacity[0]?.updatedAt;
  return (
    <Panel
      title="Capacity"
      lead={
        written === undefined ? undefined : (
          <>
            Last changed <Ago at={written} />. {BOTH_HINT}
          </>
        )
      }
      flush
    >
      <Loaded query={query} what="capacity">
        {({ capacity }) => <Rows rows={capacity} quota={pool.quota} />}
      </Loaded>
    </Panel>
  );
}

function Rows({
  rows,
  quota,
}: {
  readonly rows: readonly CapacityRow[];
  readonly quota: readonly QuotaView[];
}): ReactNode {
  const shown = rows
    .filter(({ total }) => total > 0)
    .toSorted((a, b) => byResource(a.resource, b.resource));
  if (shown.length === 0)
    return (
      <div className={styles["inset"]}>
        <Empty title="Nothing to count yet">The pool has no nodes.</Empty>
      </div>
    );
  return (
    <Table
      label="Capacity of the pool"
      rows={shown}
      rowKey={({ resource }) => resource}
      columns={columnsFor(quota)}
    />
  );
}

function columnsFor(quota: readonly QuotaView[]): Column<CapacityRow>[] {
  const count = (id: keyof CapacityRow, name: string): Column<CapacityRow> => ({
    id,
    name,
    end: true,
    cell: (row) => <Count value={Number(row[id])} />,
  });
  return [
    { id: "resource", name: "Resource", cell: ({ resource }) => <b>{resourceText(resource)}</b> },
    {
      id: "bar",
      name: "In the pool",
      cell: (row) => (
        <div className={styles["bar"]}>
          <Bar label={resourceText(row.resource)} parts={partsOf(row)} total={row.total} thin />
        </div>
      ),
    },
    count("available", headOf(UNBOOKED)),
    count("allocated", "Booked now"),
    count("reserved", headOf(RESERVED)),
    { id: "down", name: "Down", end: true, cell: (row) => <Count value={downOf(row)} /> },
    count("total", "Total"),
    {
      id: "quota",
      name: "My quota",
      end: true,
      cell: ({ resource }) => <QuotaCell row={quota.find((row) => row.resource === resource)} />,
    },
  ];
}

/** Zero is there and quiet. */
function Count({ value }: { readonly value: number }): ReactNode {
  return <span className={value === 0 ? styles["zero"] : undefined}>{number(value)}</span>;
}

function QuotaCell({ row }: { readonly row: QuotaView | undefined }): ReactNode {
  if (row === undefined)
    return (
      <span className={styles["zero"]} title="A missing row grants nothing">
        none
      </span>
    );
  const max = limitOf(row);
  const left = row.remaining ?? (max === null || row.used === null ? null : max - row.used);
  if (max === null) return left === null || limitOf({ max: left }) === null ? "no limit" : left;
  return (
    <span title={row.used === null ? undefined : `${number(row.used)} used of ${number(max)}`}>
      {left === null ? "?" : number(Math.max(0, left))} left of {number(max)}
    </span>
  );
}

function downOf({ maintenance, provisioning, unhealthy, unreachable }: CapacityRow): number {
  return maintenance + provisioning + unhealthy + unreachable;
}

/** What is booked now and later is counted under both: the bar shows it once. */
function partsOf(row: CapacityRow): Part[] {
  const later = Math.max(0, row.allocatable - row.allocated - row.available);
  return [
    { fill: "booked", name: "booked now", count: Math.min(row.allocated, row.total) },
    { fill: "later", name: RESERVED, count: later },
    { fill: "free", name: UNBOOKED, count: row.available },
    { fill: "down", name: "down", count: downOf(row) },
  ];
}
