/** What the states of a cell are called and drawn as: one list for cells, their names and the key. */
import { shortId } from "../facts/describe.ts";
import { freeAt } from "../format/free.ts";
import type { Moment } from "../format/free.ts";
import { timeText } from "../format/time.ts";
import { freeOf, partsFree } from "./cells.ts";
import type { Cell, CellRow, CellState } from "./cells.ts";

interface Look {
  readonly glyph: string;
  readonly text: string;
}

/** In the order of the key below the map. */
export const LOOKS: Readonly<Record<CellState, Look>> = {
  free: { glyph: "", text: "free" },
  mine: { glyph: "●", text: "mine" },
  spot: { glyph: "~", text: "mine, spot" },
  booked: { glyph: "■", text: "booked" },
  later: { glyph: "◷", text: "booked later" },
  withheld: { glyph: "▨", text: "set aside" },
  market: { glyph: "≈", text: "set aside, sold as spot" },
  maintenance: { glyph: "⚒", text: "in maintenance" },
  down: { glyph: "×", text: "down" },
};

/** `GPU 3 on h100-01: mine until Mon 7 Dec 09:00 CET, rsv_…k3f9q2`; of others' bookings the time alone. */
export function cellName(cell: Cell, row: CellRow, zone: string): string {
  const parts = partsFree(cell);
  const shared = parts ? `, ${parts.free} of ${cell.parts.length} parts free` : "";
  const whose = cell.reservationId === null ? "" : `, ${shortId(cell.reservationId)}`;
  return `GPU ${cell.index} on ${row.name}: ${stateText(cell, zone)}${shared}${whose}`;
}

function stateText({ reservationId, state, until }: Cell, zone: string): string {
  const { text } = LOOKS[state];
  // The end of an open term is beyond every calendar.
  if (until === null || until > FAR) return text;
  const when = timeText(until, zone);
  if (state !== "later") return `${text} until ${when}`;
  return `free until ${when}, then ${reservationId === null ? "booked" : "mine"}`;
}

const FAR = Date.UTC(2200, 0, 1);

/** How much of a row is free at the map's moment, as `3 of 8 free now` or `2 of 3 parts free then`. */
export function freeText({ cells }: CellRow, moment: Moment): string {
  const { noun, ...counted } = freeOf(cells);
  return freeAt({ ...counted, noun: noun === "part" ? "parts" : "" }, moment);
}

/** When something changes next on a node; null when nothing is known to. */
export function nextChange({ cells }: CellRow): number | null {
  const times = cells.flatMap(({ until }) => (until === null || until > FAR ? [] : [until]));
  return times.length === 0 ? null : Math.min(...times);
}
