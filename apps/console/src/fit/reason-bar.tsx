/** Why it does not fit: nodes by cause, as bars. A cause leads to its nodes on the pool's map. */
import type { Reason } from "@berth/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import styles from "./reason-bar.module.css";

/** Causes in words; the API's word is in the title. */
export const CAUSE_NAMES: Readonly<Record<string, string>> = {
  NODE_STATE: "not ready",
  MAINTENANCE: "in maintenance",
  UNHEALTHY: "too few sound GPUs",
  WITHHELD: "set aside for others",
  SELECTOR: "another model or label",
  CLASS: "no units of this kind",
  COUNT: "too small",
  BUSY: "booked in this time",
  NVLINK: "no such NVLink domain",
  SCALAR: "too little CPU or memory",
  TOPOLOGY_KEY: "without the label",
  EMPTY_POOL: "no node in the pool",
  GANG: "room for a part only",
};

export interface ReasonBarProps {
  readonly reason: Reason;
  readonly poolId: string;
  /** The window that was asked for. */
  readonly start: number;
  readonly end: number;
  /** GPUs of one node that were asked for. */
  readonly gpus: number;
}

export function ReasonBar({ reason, poolId, ...asked }: ReasonBarProps): ReactNode {
  const blocked = reason.blocked
    .filter(({ nodes }) => nodes > 0)
    .toSorted((a, b) => b.nodes - a.nodes);
  const total = blocked.reduce((sum, { nodes }) => sum + nodes, 0);
  return (
    <ul className={styles.list} aria-label="Nodes by what rules them out">
      {blocked.map(({ cause, nodes }) => (
        <li key={cause}>
          <Link
            to="/pools/$poolId"
            params={{ poolId }}
            search={({ tenant }) => ({
              ...(tenant === undefined ? {} : { tenant }),
              cause,
              ...asked,
            })}
            className={styles.row}
            title={`${cause}: these nodes on the map`}
          >
            <span>{CAUSE_NAMES[cause] ?? cause}</span>
            <span className={styles.track} aria-hidden="true">
              <span
                className={styles.fill}
                style={{ display: "block", width: `${(nodes / total) * 100}%` }}
              />
            </span>
            <span className={styles.count}>
              {nodes}
              <span className="visually-hidden"> of {total} nodes</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
