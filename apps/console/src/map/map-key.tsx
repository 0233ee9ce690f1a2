/** The key: what each look of a cell means. */
import type { ReactNode } from "react";
import type { CellState } from "./cells.ts";
import styles from "./gpu-map.module.css";
import { LOOKS } from "./words.ts";

/** Only the states that are to be seen, or the key would be longer than what it explains. */
export function MapKey({ states }: { readonly states: ReadonlySet<CellState> }): ReactNode {
  const shown = (Object.keys(LOOKS) as CellState[]).filter(
    (state) => state === "free" || states.has(state),
  );
  return (
    <ul className={styles["key"]} aria-label="Key of the map">
      {shown.map((state) => (
        <li key={state}>
          <span className={styles["cell"]} data-state={state} aria-hidden="true">
            {LOOKS[state].glyph}
          </span>
          {LOOKS[state].text}
        </li>
      ))}
    </ul>
  );
}
