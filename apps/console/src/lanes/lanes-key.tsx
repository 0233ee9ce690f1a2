/** The key of the lanes. */
import type { ReactNode } from "react";
import { KIND_GLYPH, KIND_TEXT } from "./lane-row.tsx";
import { cx } from "../ui/cx.ts";
import styles from "./lanes.module.css";
import type { SpanKind } from "./model.ts";

export function LanesKey(): ReactNode {
  return (
    <ul className={styles["key"]} aria-label="Key of the calendar">
      {(Object.keys(KIND_TEXT) as SpanKind[]).map((kind) => (
        <li key={kind}>
          <span className={cx(styles["bar"], styles["short"], styles[kind])} aria-hidden="true">
            {KIND_GLYPH[kind]}
          </span>
          {KIND_TEXT[kind]}
        </li>
      ))}
    </ul>
  );
}
