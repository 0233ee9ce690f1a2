/** Each pool by two measures side by side: what it has, and what my quota lets me use of it. */
import type { CapacityRow, Pool } from "@berth/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { UNBOOKED } from "../../format/free.ts";
import { modelText, number } from "../../format/gpus.ts";
import { Bar, Legend } from "../../ui/bar.tsx";
import { Panel } from "../../ui/page.tsx";
import { poolName } from "../pool-names.ts";
import { limitOf } from "../pool/quota-text.ts";
import { resourceText } from "../pool/resources.ts";
import { KEYS, partsOf } from "./counts.ts";
import type { Split } from "./counts.ts";
import styles from "./overview.module.css";

export interface PoolLine {
  readonly pool: Pool;
  /** What the pool is measured by. */
  readonly row: CapacityRow;
  readonly split: Split;
  /** GPUs of one node. */
  readonly perNode: number;
}

export function PoolPanel({ lines }: { readonly lines: readonly PoolLine[] }): ReactNode {
  return (
    <Panel title="By pool" lead="The pool as a whole, and what my quota allows of it" flush>
      <div className={styles.legendRow}>
        <Legend keys={KEYS} />
      </div>
      <ul className={styles.rows}>
        {lines.map((line) => (
          <li key={line.pool.id} className={styles.pool}>
            <div className={styles.name}>
              <Link to="/pools/$poolId" params={{ poolId: line.pool.id }} dir="auto">
                {poolName(line.pool)}
              </Link>
              <p>
                {line.pool.owned ? "owned" : "offered"}, {line.pool.sharing}, {line.pool.region}
              </p>
            </div>
            <PoolMeasure line={line} />
            <QuotaMeasure line={line} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function PoolMeasure({ line: { pool, row, split } }: { readonly line: PoolLine }): ReactNode {
  return (
    <div className={styles.measure}>
      <Bar label={`Pool ${poolName(pool)}`} parts={partsOf(split)} />
      <p>
        <span>Pool, {resourceText(row.resource)}</span>
        <span>
          <b>{number(split.free)}</b> {UNBOOKED}, of {number(split.total)}
        </span>
      </p>
    </div>
  );
}

function QuotaMeasure({ line: { pool, row } }: { readonly line: PoolLine }): ReactNode {
  const quota = pool.quota.find(({ resource }) => resource === row.resource);
  const name = `My quota of ${modelText(pool.gpuModel)}`;
  if (quota === undefined)
    return (
      <div className={styles.measure}>
        <Bar label={name} parts={[]} total={1} />
        <p>
          <span>My quota</span>
          <b>none</b>
        </p>
      </div>
    );
  const { max, used, remaining } = quota;
  if (max === null)
    return (
      <div className={styles.measure}>
        <p>
          <span>Quota shared with the tenant above</span>
          <b>{number(remaining ?? 0)} left</b>
        </p>
      </div>
    );
  if (limitOf({ max }) === null)
    return (
      <div className={styles.measure}>
        <p>
          <span>My quota</span>
          <b>no limit</b>
        </p>
      </div>
    );
  const peak = used ?? 0;
  return (
    <div className={styles.measure}>
      <Bar
        label={name}
        parts={[
          { fill: "accent", name: "used at most from now on", count: Math.min(peak, max) },
          { fill: "free", name: "left", count: Math.max(0, max - peak) },
        ]}
      />
      <p>
        <span>My quota</span>
        <span>
          <b>{number(Math.max(0, max - peak))}</b> left of {number(max)}
        </span>
      </p>
    </div>
  );
}
