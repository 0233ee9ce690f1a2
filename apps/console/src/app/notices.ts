/**
 * What a person should hear of wherever they are: a booking that is about to end, is under notice, has lapsed or was
 * ended by others. As a toast, and as a notification of the browser when it is allowed and the page is out of sight.
 */
import type { Event } from "@berth/client";
import { toast } from "sonner";
import { displayText } from "../display/display-text.ts";

export interface Notice {
  readonly title: string;
  readonly body: string;
  readonly tone: "info" | "warning" | "error";
  readonly reservationId: string;
}

/** What an event says to a person; null for what they need not hear of. `say` tells an instant in their zone. */
export function noticeOf(event: Event, say: (at: number) => string): Notice | null {
  switch (event.type) {
    case "reservation.endingSoon":
      return notice(event.data, ["info", "A booking ends soon", `It ends ${say(event.data.end)}.`]);
    case "reservation.preempting":
      return notice(event.data, [
        "warning",
        "A spot booking has to make way",
        `It ends ${say(event.data.end)}, after its notice.`,
      ]);
    case "reservation.expired":
      return notice(event.data, ["error", "A lease has lapsed", "It was not renewed in time."]);
    case "reservation.preempted":
      return notice(event.data, ["error", "A spot booking was preempted", ended(event.data)]);
    case "reservation.terminated":
      return notice(event.data, ["error", "A booking was ended by an operator", ended(event.data)]);
    default:
      return null;
  }
}

const ended = ({ endReason }: { readonly endReason: string | null }): string =>
  endReason ?? "What it held is free for others.";

function notice(
  { reservationId }: { readonly reservationId: string },
  [tone, title, body]: readonly [Notice["tone"], string, string],
): Notice {
  // A reason is an operator's own words.
  return { tone, title, body: displayText(`${body} ${reservationId}`), reservationId };
}

/** Shows it; a press opens the booking's facts. */
export function show({ title, body, tone, reservationId }: Notice, open: () => void): void {
  toast[tone](title, {
    id: `${reservationId} ${title}`,
    description: body,
    duration: tone === "info" ? 8_000 : 20_000,
    action: { label: "Show", onClick: open },
  });
  if (document.visibilityState === "visible" || !mayNotify()) return;
  const shown = new Notification(title, { body, tag: `${reservationId} ${title}` });
  shown.addEventListener("click", () => {
    window.focus();
    open();
    shown.close();
  });
}

export function mayNotify(): boolean {
  return "Notification" in window && Notification.permission === "granted";
}
