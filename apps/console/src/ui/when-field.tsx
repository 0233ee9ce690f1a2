/** An instant, typed as a date and a time of day in the zone that the page tells times in; the label names the zone. */
import { parseAbsolute, parseDateTime, toCalendarDateTime, toZoned } from "@internationalized/date";
import type { ReactNode } from "react";
import { useZone } from "../app/zone.tsx";
import { zoneName } from "../format/time.ts";
import { Field } from "./field.tsx";
import styles from "./field.module.css";
import { Time } from "./time.tsx";

export interface WhenFieldProps {
  readonly label: string;
  /** Milliseconds since the epoch; null: empty. */
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
  readonly hint?: string;
  readonly error?: string | null;
}

export function WhenField({ label, value, onChange, hint, error }: WhenFieldProps): ReactNode {
  const { zone } = useZone();
  const named = zoneName(value ?? Date.now(), zone);
  return (
    // The control shows the date in the order of the browser's language: it is read back in the page's own.
    <Field
      label={`${label} (${named})`}
      hint={value === null ? hint : <Time at={value} />}
      error={error}
    >
      {(parts) => (
        <input
          {...parts}
          type="datetime-local"
          className={styles["input"]}
          value={value === null ? "" : wallText(value, zone)}
          onChange={({ target }) => onChange(instantOf(target.value, zone))}
        />
      )}
    </Field>
  );
}

/** `2026-12-07T09:00`, as the control takes it. */
export function wallText(at: number, zone: string): string {
  const zoned = parseAbsolute(new Date(at).toISOString(), zone);
  return toCalendarDateTime(zoned).toString().slice(0, 16);
}

/** The instant of a wall time; one that comes twice is the earlier, one that never comes the next that does. */
export function instantOf(text: string, zone: string): number | null {
  if (text === "") return null;
  try {
    return toZoned(parseDateTime(text), zone).toDate().getTime();
  } catch {
    return null;
  }
}
