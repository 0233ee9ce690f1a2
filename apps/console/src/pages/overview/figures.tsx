/** The four numbers that are looked for first. */
import type { ReactNode } from "react";
import { RESERVED, UNBOOKED } from "../../format/free.ts";
import { number } from "../../format/gpus.ts";
import { nounText, resourceCount } from "../../format/units.ts";
import { partsOf } from "./counts.ts";
import type { Measured } from "./counts.ts";
import styles from "./overview.module.css";

export interface FiguresProps {
  /** One sum for each kind that is counted, whole GPUs first. */
  readonly sums: readonly Measured[];
}

/** The first kind in figures, each other in a line of its own: GPUs and parts of GPUs are never one number. */
export function Figures({ sums: [first, ...rest] }: FiguresProps): ReactNode {
  if (first === undefined) return null;
  const { total, mine, others, later, free, down } = first.split;
  const figures: readonly (readonly [string, number, string])[] = [
    [UNBOOKED, free, `of ${resourceCount(total, first.resource)}`],
    ["mine now", mine, ""],
    ["of others now", others, ""],
    [RESERVED, later, ""],
    ["down", down, ""],
  ];
  return (
    <div className={styles.sums}>
      <dl className={styles.figures} aria-label={`${nounText(first.resource)} of all pools`}>
        {figures.map(([name, count, more]) => (
          <div key={name} className={styles.figure}>
            <dt>{name}</dt>
            <dd>
              {number(count)} {more === "" ? null : <small>{more}</small>}
            </dd>
          </div>
        ))}
      </dl>
      {rest.map((sum) => (
        <p key={sum.resource}>
          Beside them {resourceCount(sum.split.total, sum.resource)}: {splitText(sum)}
        </p>
      ))}
    </div>
  );
}

function splitText({ split }: Measured): string {
  const parts = partsOf(split).filter(({ count }) => count > 0);
  return parts.map(({ count, name }) => `${number(count)} ${name}`).join(", ");
}
