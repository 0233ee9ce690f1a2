/** Instants and lengths on the page: the zone beside them, UTC in the title. */
import type { ReactNode } from "react";
import { useNow } from "../app/now.ts";
import { useZone } from "../app/zone.tsx";
import { agoText, durationText } from "../format/duration.ts";
import { rangeText, timeText, utcText } from "../format/time.ts";
import type { TimeStyle } from "../format/time.ts";

/** `Mon 7 Dec 09:00 CET`. */
export function Time({
  at,
  style,
}: {
  readonly at: number;
  readonly style?: TimeStyle;
}): ReactNode {
  const { zone } = useZone();
  const now = useNow(60_000);
  return (
    <time dateTime={new Date(at).toISOString()} title={utcText(at)}>
      {timeText(at, zone, style === undefined ? { now } : { style, now })}
    </time>
  );
}

/** `Mon 7 Dec 09:00 – 17:00 CET`. */
export function TimeRange({
  start,
  end,
}: {
  readonly start: number;
  readonly end: number;
}): ReactNode {
  const { zone } = useZone();
  const now = useNow(60_000);
  const words = rangeText({ start, end }, zone, now);
  return <span title={`${utcText(start)} – ${utcText(end)}`}>{words}</span>;
}

/** `in 3 h`, `5 min ago`, kept current; the instant itself is in the title. */
export function Ago({ at }: { readonly at: number }): ReactNode {
  const now = useNow(1_000);
  return (
    <time dateTime={new Date(at).toISOString()} title={utcText(at)}>
      {agoText(at, now)}
    </time>
  );
}

/** The time left, to the second. */
export function Countdown({ to }: { readonly to: number }): ReactNode {
  const now = useNow(1_000);
  return (
    <time dateTime={new Date(to).toISOString()} title={utcText(to)}>
      {to <= now ? "over" : durationText(to - now)}
    </time>
  );
}
