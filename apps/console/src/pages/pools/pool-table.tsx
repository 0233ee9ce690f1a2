/** The list of pools: what each has free, beside what my quota leaves of it. */
import type { CapacityRow, Pool, PoolCapacity } from "@berth/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { RESERVED, UNBOOKED, headOf } from "../../format/free.ts";
import { modelText, number } from "../../format/gpus.ts";
import { resourceCount } from "../../format/units.ts";
import { Bar } from "../../ui/bar.tsx";
import type { Part } from "../../ui/bar.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Table } from "../../ui/table.tsx";
import { limitOf } from "../pool/quota-text.ts";
import { poolName } from "../pool-names.ts";
import styles from "./pools.module.css";

export interface PoolTableProps {
  readonly pools: readonly Pool[];
  readonly counts: ReadonlyMap<string, PoolCapacity>;
}

export function PoolTable({ pools, counts }: PoolTableProps): ReactNode {
  const rowOf = (pool: Pool): CapacityRow | undefined =>
    counts.get(pool.id)?.capacity.find(({ resource }) => resource === mainResource(pool));
  return (
    <div className={styles["panel"]}>
      <Table
        label="Pools"
        rows={pools}
        rowKey={({ id }) => id}
        columns={[
          { id: "name", name: "Pool", cell: (pool) => <Name pool={pool} /> },
          {
            id: "whose",
            name: "Whose",
            cell: ({ archived, owned, tenantId }) => (
              <span className={styles["chips"]}>
                <Chip tone={owned ? "accent" : "plain"} title={`Owner: ${tenantId}`}>
                  {owned ? "owned" : `of ${tenantId}`}
                </Chip>
                {archived && <Chip tone="warn">archived</Chip>}
              </span>
            ),
          },
          { id: "sharing", name: "Sharing", cell: ({ sharing }) => sharing },
          { id: "bar", name: "In the pool", cell: (pool) => <Free row={rowOf(pool)} /> },
          {
            id: "free",
            name: headOf(UNBOOKED),
            end: true,
            cell: (pool) => {
              const row = rowOf(pool);
              return row
                ? `${number(row.available)} of ${resourceCount(row.total, row.resource)}`
                : "";
            },
          },
          { id: "quota", name: "My quota left", end: true, cell: quotaText },
          { id: "notes", name: "Notes", cell: (pool) => <Notes pool={pool} /> },
        ]}
      />
    </div>
  );
}

/** What a pool is booked by. */
export function mainResource({ sharing }: Pool): string {
  if (sharing === "mig") return "gpu.mig";
  return sharing === "exclusive" ? "gpu" : "gpu.slot";
}

function Name({ pool }: { readonly pool: Pool }): ReactNode {
  return (
    <span className={styles["name"]}>
      <Link
        to="/pools/$poolId"
        params={{ poolId: pool.id }}
        search={({ rsv, tenant }) => ({
          ...(tenant === undefined ? {} : { tenant }),
          ...(rsv === undefined ? {} : { rsv }),
        })}
        dir="auto"
      >
        {poolName(pool)}
      </Link>
      <small>
        {modelText(pool.gpuModel)}, {pool.region}
      </small>
    </span>
  );
}

function Free({ row }: { readonly row: CapacityRow | undefined }): ReactNode {
  if (!row || row.total === 0) return <span className={styles["quiet"]}>no nodes</span>;
  const down = row.total - row.allocatable;
  const later = Math.max(0, row.allocatable - row.allocated - row.available);
  const parts: Part[] = [
    { fill: "booked", name: "booked now", count: Math.min(row.allocated, row.total) },
    { fill: "later", name: RESERVED, count: later },
    { fill: "free", name: UNBOOKED, count: row.available },
    { fill: "down", name: "down", count: down },
  ];
  return (
    <div className={styles["bar"]}>
      <Bar label="Units" parts={parts} total={row.total} thin />
    </div>
  );
}

function quotaText(pool: Pool): ReactNode {
  const row = pool.quota.find(({ resource }) => resource === mainResource(pool));
  if (!row) return <span className={styles["quiet"]}>none</span>;
  const max = limitOf(row);
  if (max === null) return "no limit";
  const left = row.remaining ?? max - (row.used ?? 0);
  return `${number(Math.max(0, left))} of ${number(max)}`;
}

/** What a booker should know of the pool beside its size. */
function Notes({ pool }: { readonly pool: Pool }): ReactNode {
  const { offer, offers, policy } = pool;
  const notes = [
    policy.singleTenant ? "single tenant" : null,
    policy.placement === "spread" ? "spreads" : null,
    policy.maxDuration === undefined ? null : `at most ${policy.maxDuration}`,
    offers === null ? null : `offered to ${offers.length}`,
    offer === null || offer.priority === 0 ? null : `priority ${offer.priority}`,
  ].filter((note) => note !== null);
  return notes.length === 0 ? null : <span className={styles["quiet"]}>{notes.join(", ")}</span>;
}
