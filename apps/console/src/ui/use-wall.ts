/** What a person typed as a wall time, kept beside the instant that it stands for. */
import type { CalendarDateTime } from "@internationalized/date";
import { useState } from "react";
import { readingsOf, wallOf } from "../format/wall.ts";

/**
 * The wall time to show for an instant, and what takes one that is typed. A typed one stays as it was typed for as long
 * as it stands for the instant: the clocks may skip it, and it must not turn into another under the hand that typed it.
 */
export function useWall(
  value: number | null,
  zone: string,
): readonly [shown: CalendarDateTime | null, type: (wall: CalendarDateTime | null) => void] {
  const [typed, type] = useState<CalendarDateTime | null>(null);
  if (value === null) return [null, type];
  const meant = typed === null ? null : readingsOf(typed, zone);
  const holds = meant !== null && (meant.usual === value || meant.second === value);
  return [holds ? typed : wallOf(value, zone), type];
}
