/** The four numbers that are looked for first. */
import type { ReactNode } from "react";
import { number } from "../../format/gpus.ts";
import type { Split } from "./counts.ts";
import styles from "./overview.module.css";

export function Figures({ split }: { readonly split: Split }): ReactNode {
  const { total, mine, others, later, free, down } = split;
  const figures: readonly (readonly [string, number, string])[] = [
    ["free now and later", free, `of ${number(total)} GPUs`],
    ["mine now", mine, ""],
    ["of others now", others, ""],
    ["reserved or set aside", later, ""],
    ["down", down, ""],
  ];
  return (
    <dl className={styles.figures} aria-label="GPUs of all pools">
      {figures.map(([name, count, more]) => (
        <div key={name} className={styles.figure}>
          <dt>{name}</dt>
          <dd>
            {number(count)} {more === "" ? null : <small>{more}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
