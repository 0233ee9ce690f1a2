/**
 * A day and a time of day in the viewer's zone, with a calendar. Heavy: pages load it when it is needed
 * (`LazyDateTime`).
 */
import type { CalendarDateTime } from "@internationalized/date";
import { useContext, useEffect, useEffectEvent, useRef, useState } from "react";
import type { ReactNode, RefObject } from "react";
import { Button } from "react-aria-components/Button";
import {
  Calendar,
  CalendarCell,
  CalendarGrid,
  CalendarGridBody,
  CalendarGridHeader,
  CalendarHeaderCell,
} from "react-aria-components/Calendar";
import { DateFieldStateContext, DateInput, DateSegment } from "react-aria-components/DateField";
import { DatePicker, DatePickerStateContext } from "react-aria-components/DatePicker";
import { Dialog } from "react-aria-components/Dialog";
import { Group } from "react-aria-components/Group";
import { Heading } from "react-aria-components/Heading";
import { I18nProvider } from "react-aria-components/I18nProvider";
import { Label } from "react-aria-components/Label";
import { Popover } from "react-aria-components/Popover";
import { useZone } from "../app/zone.tsx";
import { timeText } from "../format/time.ts";
import { readingsOf, typedFault, wallOf } from "../format/wall.ts";
import { Button as Press } from "./button.tsx";
import styles from "./date-time.module.css";
import menu from "./menu.module.css";
import { useWall } from "./use-wall.ts";
import { WallNote } from "./wall-note.tsx";

export interface DateTimeProps {
  readonly label: string;
  /** Milliseconds since the epoch. */
  readonly value: number;
  readonly onChange: (at: number) => void;
  /** Told why what the field shows is not its value; null: it is. */
  readonly onFault: (fault: string | null) => void;
  /** What else is wrong with it. */
  readonly error?: string | null;
  /** The earliest instant that may be chosen. */
  readonly min?: number;
}

/** A day that does not exist, and the nearest that does: the picker puts it in as the field is left. */
interface Nearest {
  readonly fault: string;
  readonly wall: CalendarDateTime;
}

interface Typing {
  /** The field, to know whether the person is in it. */
  readonly group: RefObject<HTMLDivElement | null>;
  readonly wall: CalendarDateTime | null;
  readonly fault: string | null;
  readonly nearest: Nearest | null;
  readonly setTyped: (fault: string | null) => void;
  readonly take: (wall: CalendarDateTime) => void;
  readonly change: (wall: CalendarDateTime | null) => void;
}

/** What is typed against what is held: told as soon as they differ. */
function useTyping({ value, onChange, onFault }: DateTimeProps, zone: string): Typing {
  const group = useRef<HTMLDivElement>(null);
  // Of wall times, and not of instants: one that the clocks skip would be moved before anybody could say so.
  const [wall, type] = useWall(value, zone);
  const [typed, setTyped] = useState<string | null>(null);
  const [nearest, setNearest] = useState<Nearest | null>(null);
  const fault = nearest?.fault ?? typed;
  const told = useRef<string | null>(null);
  const tell = useEffectEvent(onFault);
  useEffect(() => {
    if (fault === told.current) return;
    told.current = fault;
    tell(fault);
  }, [fault]);
  const take = (next: CalendarDateTime): void => {
    setNearest(null);
    type(next);
    onChange(readingsOf(next, zone).usual);
  };
  const change = (next: CalendarDateTime | null): void => {
    if (next === null) return;
    const isLeft = !group.current?.contains(document.activeElement);
    // The person typed another day than this one: it is theirs to take.
    if (typed !== null && isLeft) setNearest({ fault: typed, wall: next });
    else take(next);
  };
  return { group, wall, fault, nearest, setTyped, take, change };
}

export function DateTime(props: DateTimeProps): ReactNode {
  const { label, value, onChange, error = null, min } = props;
  const { zone } = useZone();
  const { group, wall, fault, nearest, setTyped, take, change } = useTyping(props, zone);
  const said = fault ?? error;
  return (
    // Days come before months, as in every other time of the console.
    <I18nProvider locale="en-GB">
      <DatePicker<CalendarDateTime>
        className={styles.picker ?? ""}
        value={nearest?.wall ?? wall}
        onChange={change}
        granularity="minute"
        hourCycle={24}
        isInvalid={said !== null}
        {...(min === undefined ? {} : { minValue: wallOf(min, zone) })}
      >
        <Label className={styles.label ?? ""}>{label}</Label>
        <Group className={styles.group ?? ""} ref={group}>
          <DateInput className={styles.input ?? ""}>
            {(segment) => (
              <>
                <DateSegment segment={segment} className={styles.segment ?? ""} />
                {segment.type === "minute" && <Shown onTyped={setTyped} />}
              </>
            )}
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
        {said === null ? null : <Said said={said} nearest={nearest} take={take} zone={zone} />}
        {fault === null && wall && (
          <WallNote wall={wall} zone={zone} at={value} onChange={onChange} />
        )}
      </div>
    </I18nProvider>
  );
}

interface SaidProps extends Pick<Typing, "nearest" | "take"> {
  readonly said: string;
  readonly zone: string;
}

function Said({ said, nearest, take, zone }: SaidProps): ReactNode {
  return (
    <>
      <span role="alert" className={styles.fault}>
        {said}
      </span>
      {nearest === null ? null : (
        <Press size="small" onPress={() => take(nearest.wall)}>
          Take {timeText(readingsOf(nearest.wall, zone).usual, zone)}
        </Press>
      )}
    </>
  );
}

/** The picker keeps what is half typed, or is no day, to itself: it is read off its parts. */
function Shown({ onTyped }: { readonly onTyped: (fault: string | null) => void }): ReactNode {
  const state = useContext(DateFieldStateContext);
  const fault = state === null ? null : typedFault(state.segments, state.value);
  useEffect(() => onTyped(fault), [fault, onTyped]);
  return null;
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
