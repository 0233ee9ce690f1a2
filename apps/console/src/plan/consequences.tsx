/** The parts of a plan: what would end, what would stay, and what forbids it; and why. */
import type { ReactNode } from "react";
import styles from "./consequences.module.css";

/** `blocks`: what has to go before any of it can be done. */
type Tone = "ends" | "stays" | "blocks";

const SIGNS: Readonly<Record<Tone, string>> = { ends: "■", stays: "✓", blocks: "✕" };

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
  readonly tone: Tone;
  readonly items: readonly Consequence[];
}): ReactNode {
  return (
    <section className={styles["half"]} data-tone={tone}>
      <h3>
        <span aria-hidden="true">{SIGNS[tone]}</span> {heading}
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
