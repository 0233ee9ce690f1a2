/** A state in a word: its sign says the same as its colour. */
import type { ReactNode } from "react";
import styles from "./chip.module.css";
import { cx } from "./cx.ts";

export type Tone = "plain" | "accent" | "good" | "warn" | "bad";

export function Chip({
  children,
  tone = "plain",
  glyph,
  title,
}: {
  readonly children: ReactNode;
  readonly tone?: Tone;
  readonly glyph?: string;
  readonly title?: string;
}): ReactNode {
  return (
    <span className={cx(styles.chip, tone === "plain" ? null : styles[tone])} title={title}>
      {glyph === undefined ? null : (
        <span className={styles.glyph} aria-hidden="true">
          {glyph}
        </span>
      )}
      <span dir="auto">{children}</span>
    </span>
  );
}

const STATES: Readonly<Record<string, readonly [Tone, string, string]>> = {
  scheduled: ["accent", "◷", "scheduled"],
  active: ["good", "●", "active"],
  preempting: ["warn", "▲", "under notice"],
  completed: ["plain", "✓", "completed"],
  released: ["plain", "↩", "released"],
  expired: ["bad", "⌛", "lapsed"],
  preempted: ["bad", "▲", "preempted"],
  terminated: ["bad", "■", "terminated"],
  ready: ["good", "●", "ready"],
  provisioning: ["accent", "◌", "being set up"],
  unhealthy: ["bad", "×", "unhealthy"],
  maintenance: ["warn", "▨", "maintenance"],
  unreachable: ["bad", "×", "unreachable"],
  pending: ["accent", "◷", "pending"],
  cancelled: ["plain", "↩", "cancelled"],
  "needs-review": ["warn", "▲", "needs review"],
};

/** The state of a reservation, a node or a unit reservation; the wire's word is in the title. */
export function StateChip({ state }: { readonly state: string }): ReactNode {
  const [tone, glyph, words] = STATES[state] ?? (["plain", "•", state] as const);
  return (
    <Chip tone={tone} glyph={glyph} title={state}>
      {words}
    </Chip>
  );
}
