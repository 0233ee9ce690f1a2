/** Units and windows: what the bookings table holds has to be what the reservations hold, and nothing twice. */
import {
  type BookingRow,
  type ReservationRow,
  type Span,
  type UnitRow,
  isLive,
  meets,
  spanOf,
} from "./rows.ts";
import type { Report, WrittenRow } from "./types.ts";

export class Bookings {
  /** By unit key, then reservation. */
  readonly #onUnit = new Map<number, Map<string, Span>>();
  /** By reservation: its unit keys. */
  readonly #of = new Map<string, Set<number>>();
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  write(
    rows: readonly { readonly op: WrittenRow["op"]; readonly row: BookingRow }[],
    units: ReadonlyMap<string, UnitRow>,
  ): void {
    const written = new Map<string, BookingRow>();
    for (const { op, row } of rows) {
      const { reservation_id: id, unit_key: key } = row;
      if (op === "D") {
        this.#onUnit.get(key)?.delete(id);
        this.#of.get(id)?.delete(key);
        written.delete(`${id} ${key}`);
        continue;
      }
      const onUnit = this.#onUnit.get(key) ?? new Map<string, Span>();
      const of = this.#of.get(id) ?? new Set<number>();
      this.#onUnit.set(key, onUnit.set(id, spanOf(row.during)));
      this.#of.set(id, of.add(key));
      written.set(`${id} ${key}`, row);
    }
    for (const row of written.values()) this.#checkWindow(row, units);
  }

  #checkWindow(
    { reservation_id: id, unit_key: key }: BookingRow,
    units: ReadonlyMap<string, UnitRow>,
  ): void {
    const onUnit = this.#onUnit.get(key);
    const span = onUnit?.get(id);
    if (!onUnit || !span) return;
    if (span.start >= span.end) this.#report("EMPTY_WINDOW", `${id} on unit ${key}`);
    for (const [other, theirs] of onUnit)
      if (other !== id && meets(span, theirs)) {
        const unit = [...units.values()].find((row) => row.key === key)?.id ?? key;
        this.#report(
          "OVERLAP",
          `${id} and ${other} have ${unit} at ${Math.max(span.start, theirs.start)}`,
        );
      }
  }

  /** Whether the reservation's rows are exactly what it holds. */
  check(
    row: ReservationRow,
    { units, where }: { readonly units: ReadonlyMap<string, UnitRow>; readonly where: string },
  ): void {
    const until = row.ended_at === null ? row.end : Math.min(row.end, row.ended_at);
    const held = new Map<number, string>();
    if (until > row.start)
      for (const id of row.members.flatMap((member) => member.unitIds)) {
        const key = units.get(id)?.key;
        // A unit that left with its node: its bookings are over.
        if (key === undefined && !isLive(row)) return;
        held.set(key ?? -1, `${Math.min(row.start, ...this.#pinned(row, id))} ${until}`);
      }
    const stored = new Map<number, string>();
    for (const key of this.#of.get(row.id) ?? []) {
      const span = this.#onUnit.get(key)?.get(row.id);
      if (span) stored.set(key, `${span.start} ${span.end}`);
    }
    const same =
      held.size === stored.size && [...held].every(([key, span]) => stored.get(key) === span);
    if (!same)
      this.#report(
        "WRONG_BOOKINGS",
        `${row.id} (${row.state}) in ${where} holds ${text(held)} and has booked ${text(stored)}`,
      );
  }

  #pinned({ pins, ended_at }: ReservationRow, unitId: string): number[] {
    if (ended_at !== null) return [];
    return pins.filter((pin) => pin.unitIds.some((id) => id === unitId)).map((pin) => pin.from);
  }

  spansOf(id: string): Map<number, Span> {
    const spans = [...(this.#of.get(id) ?? [])].flatMap((key): [number, Span][] => {
      const span = this.#onUnit.get(key)?.get(id);
      return span ? [[key, span]] : [];
    });
    return new Map(spans);
  }

  /** What has ended can only be in the way of what is over. */
  forget(id: string): void {
    for (const key of this.#of.get(id) ?? []) this.#onUnit.get(key)?.delete(id);
    this.#of.delete(id);
  }
}

const text = (spans: ReadonlyMap<number, string>): string =>
  `${spans.size} units, e.g. ${JSON.stringify([...spans].slice(0, 2))}`;
