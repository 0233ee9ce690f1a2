/** A stacked bar: parts of a whole by fill and hatch, with the numbers in words for who does not see it. */
import type { ReactNode } from "react";
import { number } from "../format/gpus.ts";
import styles from "./bar.module.css";
import { cx } from "./cx.ts";

/** What a part of a bar is; each has a fill of its own that is also told apart without colour. */
export type Fill = "free" | "mine" | "booked" | "later" | "withheld" | "down" | "accent";

export interface Part {
  readonly fill: Fill;
  readonly name: string;
  readonly count: number;
}

export function Bar({
  label,
  parts,
  total = parts.reduce((sum, { count }) => sum + count, 0),
  thin = false,
}: {
  readonly label: string;
  readonly parts: readonly Part[];
  readonly total?: number;
  readonly thin?: boolean;
}): ReactNode {
  const shown = parts.filter(({ count }) => count > 0);
  const words = shown.map(({ count, name }) => `${number(count)} ${name}`).join(", ") || "nothing";
  return (
    <div
      className={cx(styles.bar, thin && styles.thin)}
      role="img"
      aria-label={`${label}: ${words} of ${number(total)}`}
      title={`${words} of ${number(total)}`}
    >
      {shown.map(({ fill, name, count }) => (
        <span
          key={name}
          className={cx(styles.part, styles[fill])}
          style={{ flex: `${count} 0 0` }}
        />
      ))}
    </div>
  );
}

/** What the fills mean. */
export function Legend({
  keys,
}: {
  readonly keys: readonly Pick<Part, "fill" | "name">[];
}): ReactNode {
  return (
    <ul className={styles.legend}>
      {keys.map(({ fill, name }) => (
        <li key={name}>
          <span className={cx(styles.key, styles[fill])} aria-hidden="true" />
          <span>{name}</span>
        </li>
      ))}
    </ul>
  );
}
