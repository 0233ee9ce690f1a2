/**
 * A day and a time of day in the viewer's zone, with a calendar. Heavy: pages load it when it is needed
 * (`LazyDateTime`).
 */
import type { CalendarDateTime } from "@internationalized/date";
import { useContext } from "react";
import type { ReactNode } from "react";
import { Button } from "react-aria-components/Button";
import {
  Calendar,
  CalendarCell,
  CalendarGrid,
  CalendarGridBody,
  CalendarGridHeader,
  CalendarHeaderCell,
} from "react-aria-components/Calendar";
import { DateInput, DateSegment } from "react-aria-components/DateField";
import { DatePicker, DatePickerStateContext } from "react-aria-components/DatePicker";
import { Dialog } from "react-aria-components/Dialog";
import { Group } from "react-aria-components/Group";
import { Heading } from "react-aria-components/Heading";
import { I18nProvider } from "react-aria-components/I18nProvider";
import { Label } from "react-aria-components/Label";
import { Popover } from "react-aria-components/Popover";
import { useZone } from "../app/zone.tsx";
import { readingsOf, wallOf } from "../format/wall.ts";
import styles from "./date-time.module.css";
import menu from "./menu.module.css";
import { useWall } from "./use-wall.ts";
import { WallNote } from "./wall-note.tsx";

export interface DateTimeProps {
  readonly label: string;
  /** Milliseconds since the epoch. */
  readonly value: number;
  readonly onChange: (at: number) => void;
  /** The earliest instant that may be chosen. */
  readonly min?: number;
}

export function DateTime({ label, value, onChange, min }: DateTimeProps): ReactNode {
  const { zone } = useZone();
  // Of wall times, and not of instants: one that the clocks skip would be moved before anybody could say so.
  const [wall, type] = useWall(value, zone);
  return (
    // Days come before months, as in every other time of the console.
    <I18nProvider locale="en-GB">
      <DatePicker<CalendarDateTime>
        className={styles.picker ?? ""}
        value={wall}
        onChange={(next) => {
          if (!next) return;
          type(next);
          onChange(readingsOf(next, zone).usual);
        }}
        granularity="minute"
        hourCycle={24}
        {...(min === undefined ? {} : { minValue: wallOf(min, zone) })}
      >
        <Label className={styles.label ?? ""}>{label}</Label>
        <Group className={styles.group ?? ""}>
          <DateInput className={styles.input ?? ""}>
            {(segment) => <DateSegment segment={segment} className={styles.segment ?? ""} />}
          </DateInput>
          <Button className={styles.open ?? ""} aria-label="Choose the day">
            <span aria-hidden="true">▾</span>
          </Button>
        </Group>
        <Popover className={menu.popover ?? ""} placement="bottom start">
          <Dialog className={styles.dialog ?? ""}>
            <Days />
          </Dialog>
        </Popover>
      </DatePicker>
      {/* Beside the picker: a button within would be taken for the one that opens the calendar. */}
      <div className={styles.note}>
        {wall && <WallNote wall={wall} zone={zone} at={value} onChange={onChange} />}
      </div>
    </I18nProvider>
  );
}

function Days(): ReactNode {
  const state = useContext(DatePickerStateContext);
  if (state === null) return null;
  return (
    <Calendar className={styles.calendar ?? ""}>
      <header>
        <Button slot="previous" className={styles.open ?? ""}>
          <span aria-hidden="true">◀</span>
        </Button>
        <Heading />
        <Button slot="next" className={styles.open ?? ""}>
          <span aria-hidden="true">▶</span>
        </Button>
      </header>
      <CalendarGrid>
        <CalendarGridHeader>
          {(day) => <CalendarHeaderCell>{day}</CalendarHeaderCell>}
        </CalendarGridHeader>
        <CalendarGridBody>
          {(date) => <CalendarCell date={date} className={styles.day ?? ""} />}
        </CalendarGridBody>
      </CalendarGrid>
    </Calendar>
  );
}
