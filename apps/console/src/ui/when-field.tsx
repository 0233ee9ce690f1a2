/** An instant, typed as a date and a time of day in the zone that the page tells times in; the label names the zone. */
import type { ReactNode, SyntheticEvent } from "react";
import { useZone } from "../app/zone.tsx";
import { zoneName } from "../format/time.ts";
import { parseWall, readingsOf } from "../format/wall.ts";
import { Field } from "./field.tsx";
import styles from "./field.module.css";
import { useWall } from "./use-wall.ts";
import { WallNote } from "./wall-note.tsx";

export interface WhenFieldProps {
  readonly label: string;
  /** Milliseconds since the epoch; null: empty; NaN: what stands there is no date, which the field says itself. */
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
  readonly hint?: string;
  readonly error?: string | null;
}

export function WhenField({ label, value, onChange, hint, error }: WhenFieldProps): ReactNode {
  const { zone } = useZone();
  const isWrong = Number.isNaN(value);
  const held = isWrong ? null : value;
  const named = zoneName(held ?? Date.now(), zone);
  const [wall, type] = useWall(held, zone);
  const onType = (text: string): void => {
    const typed = parseWall(text);
    type(typed);
    onChange(typed === null ? null : readingsOf(typed, zone).usual);
  };
  // A date that does not exist, or a part of one, is no value to the browser: only its validity tells it from empty.
  const look = ({ currentTarget }: SyntheticEvent<HTMLInputElement>): void => {
    if (currentTarget.validity.badInput) onChange(Number.NaN);
    else if (isWrong) onType(currentTarget.value);
  };
  const isEmpty = held === null || wall === null;
  return (
    // The control shows the date in the order of the browser's language: it is read back in the page's own.
    <Field
      label={`${label} (${named})`}
      hint={isEmpty ? hint : <WallNote wall={wall} zone={zone} at={held} onChange={onChange} />}
      error={isWrong ? "There is no such date." : error}
    >
      {(parts) => (
        <input
          {...parts}
          type="datetime-local"
          className={styles["input"]}
          value={wall === null ? "" : wall.toString().slice(0, 16)}
          onChange={(event) => {
            if (event.target.validity.badInput) look(event);
            else onType(event.target.value);
          }}
          onKeyUp={look}
          onBlur={look}
        />
      )}
    </Field>
  );
}
