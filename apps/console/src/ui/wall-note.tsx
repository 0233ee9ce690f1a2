/** Under a field: the instant that is taken, and what a change of the clocks has to do with it. */
import type { CalendarDateTime } from "@internationalized/date";
import type { ReactNode } from "react";
import { readingsOf, wallNote } from "../format/wall.ts";
import { zoneName } from "../format/time.ts";
import { Button } from "./button.tsx";
import { Time } from "./time.tsx";
import styles from "./wall-note.module.css";

export interface WallNoteProps {
  readonly wall: CalendarDateTime;
  readonly zone: string;
  /** What is taken of it. */
  readonly at: number;
  readonly onChange: (at: number) => void;
}

export function WallNote({ wall, zone, at, onChange }: WallNoteProps): ReactNode {
  const note = wallNote(wall, zone, at);
  const { kind, second, usual } = readingsOf(wall, zone);
  const other = at === second ? usual : second;
  return (
    <>
      <Time at={at} />
      {/* There from the start, so that what comes into it is said. */}
      <span role="status" className={styles.note}>
        {note}
      </span>
      {kind === "twice" && (
        <Button size="small" onPress={() => onChange(other)}>
          Take the {at === second ? "first" : "second"}, in {zoneName(other, zone)}
        </Button>
      )}
    </>
  );
}
