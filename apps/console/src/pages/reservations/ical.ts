/** Bookings as a calendar file (RFC 5545). Pure: instants in UTC, lines folded at 75 octets, texts escaped. */
import type { Reservation } from "@berth/client";
import { whatText } from "../../facts/describe.ts";

export interface CalendarOptions {
  /** Stamped on each entry. */
  readonly now: number;
  /** What a pool is called. */
  readonly poolName: (poolId: string) => string;
  /** The address of a reservation in the console. */
  readonly linkTo: (reservationId: string) => string;
}

/** One entry a reservation; its id is the entry's, so that importing the file again changes entries and adds none. */
export function calendarOf(reservations: readonly Reservation[], options: CalendarOptions): string {
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Berth//Console//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:PUBLISH",
    ...reservations.flatMap((reservation) => entry(reservation, options)),
    "END:VCALENDAR",
  ];
  return `${lines.map(fold).join("\r\n")}\r\n`;
}

function entry(reservation: Reservation, { now, poolName, linkTo }: CalendarOptions): string[] {
  const { end, endedAt, id, members, poolId, spot, start, state, version } = reservation;
  const nodes = (members ?? []).map(({ nodeName }) => nodeName).join(", ");
  const about = [`${id}, ${state}`, nodes === "" ? "" : `On ${nodes}`].filter(Boolean).join("\n");
  return [
    "BEGIN:VEVENT",
    `UID:${id}@berth`,
    `SEQUENCE:${version}`,
    `DTSTAMP:${stamp(now)}`,
    `DTSTART:${stamp(start)}`,
    `DTEND:${stamp(Math.max(start, Math.min(end, endedAt ?? end)))}`,
    `SUMMARY:${escape(`${whatText(reservation)}${spot ? ", spot" : ""} in ${poolName(poolId)}`)}`,
    `DESCRIPTION:${escape(about)}`,
    `URL:${linkTo(id)}`,
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ];
}

/** `20261207T080000Z`. */
function stamp(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
}

function escape(text: string): string {
  return text.replaceAll(/[\\;,]/g, String.raw`\$&`).replaceAll(/\r\n?|\n/g, String.raw`\n`);
}

/** Octets and not letters count, and a letter is never cut in two. */
function fold(line: string): string {
  const encoder = new TextEncoder();
  let folded = "";
  let octets = 0;
  for (const letter of line) {
    const more = encoder.encode(letter).length;
    if (octets + more > 75) {
      folded += "\r\n ";
      octets = 1;
    }
    folded += letter;
    octets += more;
  }
  return folded;
}
