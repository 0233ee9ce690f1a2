/** The two halves of a plan: what would end and what would stay, and why. */
import type { ReactNode } from "react";
import styles from "./consequences.module.css";

export interface Consequence {
  readonly id: string;
  readonly what: ReactNode;
  readonly why: ReactNode;
}

/** Nothing is said of an empty half but its count. */
export function Consequences({
  heading,
  tone,
  items,
}: {
  /** With the count: `3 spot reservations end now`. */
  readonly heading: string;
  readonly tone: "ends" | "stays";
  readonly items: readonly Consequence[];
}): ReactNode {
  return (
    <section className={styles["half"]} data-tone={tone}>
      <h3>
        <span aria-hidden="true">{tone === "ends" ? "■" : "✓"}</span> {heading}
      </h3>
      {items.length > 0 && (
        <ul>
          {items.map(({ id, what, why }) => (
            <li key={id}>
              <span>{what}</span>
              <small>{why}</small>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
